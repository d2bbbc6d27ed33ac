/**
 * Maps the claims of the provider to a tenant, an e-mail address and roles. The functions are pure and closed by
 * default: a claim that is missing or not mapped grants nothing, and no default replaces it.
 */
import { SsoRefusal } from './refusals.ts';
import type { OidcSettings } from './settings.ts';

/**
 * The claims of a verified ID token. If the token lacks the e-mail address, the groups or the tenant, they come from the
 * provider's user info.
 */
export type Claims = Readonly<Record<string, unknown>> & { sub: string };

export type Person = {
  subject: string;
  /** Undefined means the default tenant. */
  tenant: string | undefined;
  /** In lower case. Undefined if the provider sends no valid address. */
  email: string | undefined;
  isEmailVerified: boolean;
  roles: readonly string[];
  /** True if the provider sends groups at all, even an empty list. */
  hasGroupsClaim: boolean;
};

export function personOf(claims: Claims, settings: OidcSettings): Person {
  const email = emailOf(claims);
  const known = { subject: claims.sub, ...(email !== undefined && { email }) };
  const refuse = (reason: ConstructorParameters<typeof SsoRefusal>[0]): never => {
    throw new SsoRefusal(reason, { person: known });
  };
  const tenant = tenantOf(claims, settings, refuse);
  const isEmailVerified = email !== undefined && vouchesForEmail(claims);
  if (settings.allowedEmailDomains.length > 0) {
    if (email === undefined) return refuse('email_missing');
    if (!isEmailVerified) return refuse('email_unverified');
    if (!isAllowedDomain(email, settings.allowedEmailDomains)) return refuse('email_domain');
  }
  if (email !== undefined && isBreakGlass(email, settings)) return refuse('break_glass_user');
  // The provider says that groups exist, and where to ask for them. Continuing without them would take roles from the
  // people with the most groups.
  if (areGroupsLeftOut(claims, settings.groupsClaim)) return refuse('groups_left_out');
  return {
    subject: claims.sub,
    tenant,
    email,
    isEmailVerified,
    roles: rolesOf(claims, settings),
    hasGroupsClaim: (claims[settings.groupsClaim] ?? null) !== null,
  };
}

export const isBreakGlass = (email: string, settings: Pick<OidcSettings, 'breakGlassEmails'>): boolean =>
  settings.breakGlassEmails.some((listed) => listed.trim().toLowerCase() === email);

function tenantOf(
  claims: Claims,
  { tenantClaim, tenantClaims }: OidcSettings,
  refuse: (reason: 'tenant_claim_missing' | 'tenant_not_mapped') => never,
): string | undefined {
  if (tenantClaim === '') return undefined;
  const value = claims[tenantClaim];
  if (typeof value !== 'string' || value === '') return refuse('tenant_claim_missing');
  return ownValue(tenantClaims, value) ?? refuse('tenant_not_mapped');
}

export function rolesOf(claims: Claims, settings: OidcSettings): string[] {
  const mapped = groupsOf(claims[settings.groupsClaim]).flatMap(
    (group) => ownValue(settings.roleMappings, group) ?? [],
  );
  if (mapped.length > 0) return [...new Set(mapped)].sort();
  return settings.defaultRole === '' ? [] : [settings.defaultRole];
}

function groupsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((group) => typeof group === 'string') : [];
}

/** Reads only keys that the map itself contains. A group may be called `constructor`, which every object inherits. */
const ownValue = (map: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

/** True for distributed claims (OpenID Connect Core 5.6.2). Entra ID uses them above 200 groups. */
function areGroupsLeftOut(claims: Claims, groupsClaim: string): boolean {
  const elsewhere = claims['_claim_names'];
  return (
    claims[groupsClaim] === undefined &&
    typeof elsewhere === 'object' &&
    elsewhere !== null &&
    Object.hasOwn(elsewhere, groupsClaim)
  );
}

/**
 * Refuses invisible characters, and the two characters with an ASCII letter as lower case. The Kelvin sign K would
 * become the k of another address.
 */
const ADDRESS =
  /^[^\s@\u0000-\u001f\u007f-\u009f\u00ad\u0130\u200b-\u200f\u202a-\u202e\u2060-\u206f\u212a\ufeff]+@[^\s@\u0000-\u001f\u007f-\u009f\u00ad\u0130\u200b-\u200f\u202a-\u202e\u2060-\u206f\u212a\ufeff]+$/;
const MAX_ADDRESS_LENGTH = 320;

function emailOf({ email }: Claims): string | undefined {
  if (typeof email !== 'string' || email.length > MAX_ADDRESS_LENGTH || !ADDRESS.test(email)) return undefined;
  return email.toLowerCase();
}

/**
 * True if the provider says that the address is verified. Entra ID has no `email_verified`; its `xms_edov` says that
 * the domain of the address is verified.
 */
const vouchesForEmail = (claims: Claims): boolean => isYes(claims['email_verified']) || isYes(claims['xms_edov']);

const isYes = (claim: unknown): boolean => claim === true || claim === 'true' || claim === 1 || claim === '1';

function isAllowedDomain(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return domains.some((allowed) => allowed.trim().toLowerCase() === domain);
}
