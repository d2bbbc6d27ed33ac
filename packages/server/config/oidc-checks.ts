import { isLoopbackHost } from './address.ts';
import type { BootProblem, BootReport } from './boot-report.ts';
import type { Config } from './keys.ts';
import { variableOf } from './keys.ts';
import { basePath, editionOf } from './resolved.ts';

/** The path to which the provider redirects the browser. It is the only path of this route. */
export const OIDC_CALLBACK_PATH = '/api/v2/auth/oidc/callback';

/** Checks the keys of `auth.oidc`, but only if the provider is `oidc`. */
export function checkSingleSignOn(config: Config): BootReport {
  if (config.auth.provider !== 'oidc') {
    return { errors: [], warnings: [] };
  }
  return {
    errors: [
      ...checkEdition(config),
      ...checkPresence(config),
      ...checkIssuer(config),
      ...checkRedirectUrl(config),
      ...checkScopes(config),
      ...checkRoles(config),
      ...checkTenants(config),
    ],
    warnings: [...lockoutWarnings(config), ...pathWarnings(config)],
  };
}

function checkEdition(config: Config): BootProblem[] {
  if (editionOf(config) === 'pro') {
    return [];
  }
  const message = `auth.provider is oidc, which needs the pro edition, but ui.edition is ${JSON.stringify(config.ui.edition)}; set SVC_UI_EDITION=pro, or SVC_AUTH_PROVIDER=jwt`;
  return [{ key: 'auth.provider', message }];
}

function checkPresence(config: Config): BootProblem[] {
  const { issuer, clientId, redirectUrl } = config.auth.oidc;
  const required = [
    { key: 'auth.oidc.issuer', value: issuer },
    { key: 'auth.oidc.client_id', value: clientId },
    { key: 'auth.oidc.redirect_url', value: redirectUrl },
  ] as const;
  return required
    .filter(({ value }) => value === '')
    .map(({ key }) => ({ key, message: `auth.provider is oidc but ${key} is not set; set ${variableOf(key)}` }));
}

function checkIssuer(config: Config): BootProblem[] {
  const { issuer } = config.auth.oidc;
  const url = URL.parse(issuer);
  const isFine = url?.protocol === 'https:' && url.search === '' && url.hash === '' && !hasCredentials(url);
  if (issuer === '' || (isFine && !isForAllCustomers(url))) {
    return [];
  }
  if (isFine) {
    const message = `auth.oidc.issuer is ${JSON.stringify(issuer)}, which vouches for everybody's customers; set SVC_AUTH_OIDC_ISSUER to that of your own directory, https://login.microsoftonline.com/<tenant id>/v2.0`;
    return [{ key: 'auth.oidc.issuer', message }];
  }
  const message = `auth.oidc.issuer is ${JSON.stringify(withoutCredentials(issuer))}; set SVC_AUTH_OIDC_ISSUER to an https URL without query, such as https://login.example.com/tenant`;
  return [{ key: 'auth.oidc.issuer', message }];
}

/**
 * True for issuers of Entra ID that serve any directory. Only a tenant claim would then keep users of other
 * organisations out.
 */
const isForAllCustomers = ({ hostname, pathname }: URL): boolean =>
  hostname === 'login.microsoftonline.com' && /^\/(common|organizations|consumers)(\/|$)/.test(pathname);

function checkRedirectUrl(config: Config): BootProblem[] {
  const { redirectUrl } = config.auth.oidc;
  const url = URL.parse(redirectUrl);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  const isOurs = url?.pathname.endsWith(OIDC_CALLBACK_PATH) === true && url.search === '' && url.hash === '';
  if (redirectUrl === '' || (isSafe && isOurs && !hasCredentials(url))) {
    return [];
  }
  const message = `auth.oidc.redirect_url is ${JSON.stringify(withoutCredentials(redirectUrl))}; set SVC_AUTH_OIDC_REDIRECT_URL to an https URL (http only for a loopback host) whose path ends in ${OIDC_CALLBACK_PATH}`;
  return [{ key: 'auth.oidc.redirect_url', message }];
}

function checkScopes(config: Config): BootProblem[] {
  const { scopes } = config.auth.oidc;
  if (scopes.includes('openid')) {
    return [];
  }
  const message = `auth.oidc.scopes is ${JSON.stringify(scopes.join(' '))}; add openid, without which the provider issues no ID token and nobody can log in`;
  return [{ key: 'auth.oidc.scopes', message }];
}

/** The roles of every tenant. A test compares them with auth/permissions.ts, which this layer must not import. */
export const MAPPABLE_ROLES = ['viewer', 'operator', 'editor', 'admin'];

function checkRoles(config: Config): BootProblem[] {
  const { roleMappings, defaultRole } = config.auth.oidc;
  const isUnknown = (role: string): boolean => role !== '' && !MAPPABLE_ROLES.includes(role);
  const roles = MAPPABLE_ROLES.join(', ');
  const problems: BootProblem[] = Object.entries(roleMappings)
    .filter(([, role]) => isUnknown(role))
    .map(([group, role]) => ({
      key: 'auth.oidc.role_mappings',
      message: `auth.oidc.role_mappings maps ${JSON.stringify(group)} to ${JSON.stringify(role)}, which is no role; use one of ${roles}`,
    }));
  if (isUnknown(defaultRole)) {
    const message = `auth.oidc.default_role is ${JSON.stringify(defaultRole)}, which is no role; set SVC_AUTH_OIDC_DEFAULT_ROLE to one of ${roles}, or leave it empty`;
    problems.push({ key: 'auth.oidc.default_role', message });
  }
  return problems;
}

/**
 * A map of tenants means that the operator wants to separate users. Without the claim, all of them would be in the
 * default tenant.
 */
function checkTenants(config: Config): BootProblem[] {
  const { tenantClaim, tenantClaims } = config.auth.oidc;
  if (tenantClaim !== '' || Object.keys(tenantClaims).length === 0) {
    return [];
  }
  const message =
    'auth.oidc.tenant_claims is set but auth.oidc.tenant_claim is empty, so everybody would be in the default tenant; set SVC_AUTH_OIDC_TENANT_CLAIM to tid or hd';
  return [{ key: 'auth.oidc.tenant_claim', message }];
}

/**
 * Warns if the redirect URL and `server.base_url` have different paths. The browser returns to the first, and its
 * session is valid for the second.
 */
function pathWarnings(config: Config): string[] {
  const path = URL.parse(config.auth.oidc.redirectUrl)?.pathname ?? '';
  if (!path.endsWith(OIDC_CALLBACK_PATH) || path === `${basePath(config)}${OIDC_CALLBACK_PATH}`) {
    return [];
  }
  return [
    `auth.oidc.redirect_url has the path ${path}, but server.base_url ${JSON.stringify(config.server.baseUrl)} has another prefix: after signing in people end up elsewhere; set SVC_SERVER_BASE_URL to the same prefix`,
  ];
}

/** Warns of settings that deny every login by default, because such a login fails without a visible reason. */
function lockoutWarnings(config: Config): string[] {
  const { roleMappings, defaultRole, tenantClaim, tenantClaims } = config.auth.oidc;
  const warnings: string[] = [];
  if (Object.keys(roleMappings).length === 0 && defaultRole === '') {
    warnings.push(
      'auth.oidc.role_mappings and auth.oidc.default_role are both empty: single sign-on grants nobody a role',
    );
  }
  if (tenantClaim !== '' && Object.keys(tenantClaims).length === 0) {
    warnings.push(
      `auth.oidc.tenant_claim is ${tenantClaim} but auth.oidc.tenant_claims is empty: every login is rejected`,
    );
  }
  return warnings;
}

function hasCredentials(url: URL | null | undefined): boolean {
  return url !== null && url !== undefined && (url.username !== '' || url.password !== '');
}

/** Hides a password in a URL, because messages must not contain it. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//***@');
}
