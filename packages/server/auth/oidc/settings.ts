/** Settings of single sign-on: the configured `auth.oidc` keys. */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  /** Empty for a public client, which only PKCE protects. */
  clientSecret: string;
  redirectUrl: string;
  scopes: readonly string[];
  groupsClaim: string;
  roleMappings: Readonly<Record<string, string>>;
  /** If empty, roles come from groups alone. */
  defaultRole: string;
  /** If empty, all users belong to the default tenant. */
  tenantClaim: '' | 'tid' | 'hd';
  tenantClaims: Readonly<Record<string, string>>;
  allowedEmailDomains: readonly string[];
  breakGlassEmails: readonly string[];
  jitProvisioning: boolean;
  clockSkewSeconds: number;
};
