/**
 * From what the provider vouches for to who that is here: the tenant, the e-mail address and the roles. Pure, and closed
 * wherever it is not told to open: a claim that is missing or not mapped grants nothing and is never replaced by a default.
 */
import { SsoRefusal } from './refusals.ts';
import type { OidcSettings } from './settings.ts';

/** The claims of a verified ID token, completed from the provider's user info where the token has no e-mail address or no groups. */
export type Claims = Readonly<Record<string, unknown>> & { sub: string };

export type Person = {
  subject: string;
  /** Undefined: the default tenant. */
  tenant: string | undefined;
  /** In lower case; undefined when the provider says none that is one. */
  email: string | undefined;
  isEmailVerified: boolean;
  roles: readonly string[];
  /** Whether the provider says anything of groups; an empty list is something. */
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
  // The provider says that there are groups, and where to ask for them. To go on would take roles away from whoever has most groups.
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

/** What somebody wrote into the map, and not what every object has: a group may be called `constructor`. */
const ownValue = (map: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

/** Distributed claims (OpenID Connect Core 5.6.2): Entra ID does so above 200 groups. */
function areGroupsLeftOut(claims: Claims, groupsClaim: string): boolean {
  const elsewhere = claims['_claim_names'];
  return (
    claims[groupsClaim] === undefined &&
    typeof elsewhere === 'object' &&
    elsewhere !== null &&
    Object.hasOwn(elsewhere, groupsClaim)
  );
}

/** Nothing invisible, and neither of the two characters whose lower case is an ASCII letter: K would be somebody else's k. */
const ADDRESS =
  /^[^\s@\u0000-\u001f\u007f-\u009f\u00ad\u0130\u200b-\u200f\u202a-\u202e\u2060-\u206f\u212a\ufeff]+@[^\s@\u0000-\u001f\u007f-\u009f\u00ad\u0130\u200b-\u200f\u202a-\u202e\u2060-\u206f\u212a\ufeff]+$/;
const MAX_ADDRESS_LENGTH = 320;

function emailOf({ email }: Claims): string | undefined {
  if (typeof email !== 'string' || email.length > MAX_ADDRESS_LENGTH || !ADDRESS.test(email)) return undefined;
  return email.toLowerCase();
}

/** `xms_edov` is how Entra ID, which has no `email_verified`, says that the domain of the address is verified. */
const vouchesForEmail = (claims: Claims): boolean => isYes(claims['email_verified']) || isYes(claims['xms_edov']);

const isYes = (claim: unknown): boolean => claim === true || claim === 'true' || claim === 1 || claim === '1';

function isAllowedDomain(email: string, domains: readonly string[]): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return domains.some((allowed) => allowed.trim().toLowerCase() === domain);
}
