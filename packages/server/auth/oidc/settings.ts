/** What single sign-on is told: the `auth.oidc` keys, as they are configured. */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  /** Empty for a public client, which PKCE alone protects. */
  clientSecret: string;
  redirectUrl: string;
  scopes: readonly string[];
  groupsClaim: string;
  roleMappings: Readonly<Record<string, string>>;
  /** Empty: nobody gets a role that no group gives. */
  defaultRole: string;
  /** Empty: everybody belongs to the default tenant. */
  tenantClaim: '' | 'tid' | 'hd';
  tenantClaims: Readonly<Record<string, string>>;
  allowedEmailDomains: readonly string[];
  breakGlassEmails: readonly string[];
  jitProvisioning: boolean;
  clockSkewSeconds: number;
};
