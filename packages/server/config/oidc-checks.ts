import { isLoopbackHost } from './address.ts';
import type { BootProblem, BootReport } from './boot-report.ts';
import type { Config } from './keys.ts';
import { variableOf } from './keys.ts';
import { editionOf } from './resolved.ts';

/** The provider redirects the browser here; the route has no other name. */
export const OIDC_CALLBACK_PATH = '/api/v2/auth/oidc/callback';

/** Nothing under `auth.oidc` is looked at while the provider is `jwt`. */
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
    ],
    warnings: lockoutWarnings(config),
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
  if (issuer === '' || isFine) {
    return [];
  }
  const message = `auth.oidc.issuer is ${JSON.stringify(withoutCredentials(issuer))}; set SVC_AUTH_OIDC_ISSUER to an https URL without query, such as https://login.example.com/tenant`;
  return [{ key: 'auth.oidc.issuer', message }];
}

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

/** Each of these is default-deny doing its duty, and a first login that fails for no visible reason. */
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
  if (tenantClaim === '' && Object.keys(tenantClaims).length > 0) {
    warnings.push(
      'auth.oidc.tenant_claims is set but auth.oidc.tenant_claim is empty: the map is not used; set it to tid or hd',
    );
  }
  return warnings;
}

function hasCredentials(url: URL | null | undefined): boolean {
  return url !== null && url !== undefined && (url.username !== '' || url.password !== '');
}

/** A password somebody put into a URL does not belong in a message. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//***@');
}
