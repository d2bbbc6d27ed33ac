/**
 * Finds or creates the user of a tenant for a person that the provider has authenticated:
 *
 *   account known ──▶ its user                       whatever the address is today
 *   account new   ──▶ the user with its verified address, bound from now on
 *                 ──▶ a new user, where `auth.oidc.jit_provisioning` allows it
 *
 * The groups of this moment decide all roles. A role that an administrator assigned, or that a former group gave, is
 * removed at the next sign-in. An address alone therefore never gives more than the groups of the provider.
 */
import { scopedToTenant } from '../../db/database.ts';
import type { SharedDb, TenantDb } from '../../db/database.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import type { Actor } from '../../db/identity/audit-log.ts';
import {
  bindIdentity,
  changeEmail,
  findUserByIdentity,
  findUserToBind,
  insertUserWithoutPassword,
  recordSignIn,
} from '../../db/identity/oidc-identities.ts';
import type { IdentityUser } from '../../db/identity/oidc-identities.ts';
import { DEFAULT_TENANT, findTenantByName } from '../../db/identity/tenants.ts';
import type { Tenant } from '../../db/identity/tenants.ts';
import { replaceRoles, unknownRoles } from '../../db/identity/users.ts';
import { isBreakGlass } from './policy.ts';
import type { Person } from './policy.ts';
import { SsoRefusal } from './refusals.ts';
import type { RefusalReason } from './refusals.ts';
import type { OidcSettings } from './settings.ts';

export type Origin = { clientIp: string; requestId: string };
export type Admitted = { tenant: Tenant; scope: TenantDb; user: { id: string; email: string; roles: string[] } };

/**
 * Runs in the transaction of the caller. It returns a refusal instead of throwing it, so that the removal of roles is
 * committed.
 */
export async function admit(
  db: SharedDb,
  input: { person: Person; issuer: string; settings: OidcSettings; origin: Origin },
): Promise<Admitted | SsoRefusal> {
  const { person, issuer, settings, origin } = input;
  const tenant = await findTenantByName(db, person.tenant ?? DEFAULT_TENANT);
  const known = { subject: person.subject, ...(person.email !== undefined && { email: person.email }) };
  if (!tenant) return new SsoRefusal('tenant_missing', { person: known });
  if (tenant.disabled_at !== null)
    return new SsoRefusal('tenant_disabled', { person: { ...known, tenantId: tenant.id } });
  const scope = scopedToTenant(db, tenant.id);
  const actor = { name: person.email ?? person.subject, ...origin };

  const [missing] = await unknownRoles(scope, person.roles);
  if (missing !== undefined) return new SsoRefusal('role_missing', { person: { ...known, tenantId: tenant.id } });
  const found = await findOrMake({ scope, person, issuer, settings, actor });
  if (typeof found === 'string') return new SsoRefusal(found, { person: { ...known, tenantId: tenant.id } });

  const refuse = (reason: RefusalReason) =>
    new SsoRefusal(reason, { person: { ...known, tenantId: tenant.id, userId: found.id } });
  if (!found.is_active) return refuse('user_inactive');
  if (isBreakGlass(found.email, settings)) return refuse('break_glass_user');
  await refreshRoles({ scope, user: found, roles: person.roles, actor });
  if (person.roles.length === 0) return refuse(whyNoRole(person));
  const email = await currentEmail({ scope, user: found, person, actor });
  await recordSignIn(scope, { issuer, subject: person.subject });
  return { tenant, scope, user: { id: found.id, email, roles: [...person.roles] } };
}

const whyNoRole = ({ hasGroupsClaim }: Person): RefusalReason => (hasGroupsClaim ? 'no_role' : 'groups_missing');

type Search = { scope: TenantDb; person: Person; issuer: string; settings: OidcSettings; actor: Actor };

/** Two first sign-ins of one person may run at once. The second one finds the user that the first one created. */
async function findOrMake(search: Search): Promise<IdentityUser | RefusalReason> {
  const first = await findOrMakeOnce(search);
  return first === 'again' ? ((await findUserByIdentity(search.scope, identityOf(search))) ?? 'other_identity') : first;
}

const identityOf = ({ issuer, person }: Search) => ({ issuer, subject: person.subject });

async function findOrMakeOnce(search: Search): Promise<IdentityUser | RefusalReason | 'again'> {
  const { scope, person, settings, actor } = search;
  const identity = identityOf(search);
  const bound = await findUserByIdentity(scope, identity);
  if (bound) return bound;
  // An unverified address may belong to another person. It neither finds a user nor creates one.
  if (person.email === undefined) return 'email_missing';
  if (!person.isEmailVerified) return 'email_unverified';
  const listed = await findUserToBind(scope, person.email);
  if (listed) {
    if (!listed.is_active) return 'user_inactive';
    if (!(await bindIdentity(scope, { ...identity, userId: listed.id }))) return 'again';
    await recordAudit(scope, actor, audited('bind_identity', listed.id, { issuer: identity.issuer }));
    return listed;
  }
  if (!settings.jitProvisioning) return 'user_unknown';
  if (person.roles.length === 0) return whyNoRole(person);
  const made = await insertUserWithoutPassword(scope, person.email);
  if (!made || !(await bindIdentity(scope, { ...identity, userId: made.id }))) return 'again';
  await recordAudit(scope, actor, audited('post_user', made.id, { email: person.email, by: 'single sign-on' }));
  return { id: made.id, email: person.email, is_active: true, roles: [] };
}

async function refreshRoles(input: {
  scope: TenantDb;
  user: IdentityUser;
  roles: readonly string[];
  actor: Actor;
}): Promise<void> {
  const { scope, user, roles, actor } = input;
  const wanted = [...roles].sort();
  if (JSON.stringify(wanted) === JSON.stringify([...user.roles].sort())) return;
  await replaceRoles(scope, user.id, wanted);
  await recordAudit(scope, actor, audited('refresh_roles', user.id, { before: user.roles, after: wanted }));
}

/**
 * Returns the current e-mail address. The user takes the address that the provider reports, unless another user here
 * has it.
 */
async function currentEmail(input: {
  scope: TenantDb;
  user: IdentityUser;
  person: Person;
  actor: Actor;
}): Promise<string> {
  const { scope, user, person, actor } = input;
  if (!person.isEmailVerified || person.email === undefined || person.email === user.email) return user.email;
  if (!(await changeEmail(scope, user.id, person.email))) return user.email;
  await recordAudit(scope, actor, audited('change_email', user.id, { before: user.email, after: person.email }));
  return person.email;
}

const audited = (event: string, userId: string, detail: Record<string, unknown>) => ({
  event,
  objectKind: 'user',
  objectId: userId,
  detail,
});
