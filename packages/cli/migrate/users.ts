/** Migrates users with their roles, but without passwords, because Airflow hashes them differently. */
import { insertUserWithoutPassword } from '@svc/server/db/identity/oidc-identities.ts';
import { changeUserAccess } from '@svc/server/db/identity/administrators.ts';
import {
  findUserById,
  findUserIdByEmail,
  normaliseEmail,
  replaceRoles,
  updateUser,
} from '@svc/server/db/identity/users.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import type { SourceUser } from '@svc/server/db/imports/airflow/source-types.ts';
import { inTransaction, recordImport } from './migration.ts';
import type { Migration } from './migration.ts';
import type { Entry } from './report.ts';
import { mapRoles } from './roles.ts';

const ADDRESS = /^[^\s@]+@[^\s@]+$/;

export async function migrateUsers(migration: Migration): Promise<void> {
  const users = await migration.source.users();
  if ('unavailable' in users) {
    migration.report.note('users', users.unavailable);
    return;
  }
  for (const user of users) {
    let entry: Entry | undefined;
    await inTransaction(migration, async (trx) => {
      entry = await migrateUser(migration, trx, user);
      await recordImport(migration, trx, { kind: 'users', done: [entry] });
    });
    if (entry) migration.report.add(entry);
  }
  if (migration.report.countsOf('users').create > 0)
    migration.report.note(
      'users',
      'passwords do not come over: people sign in by single sign-on, or with a password that an administrator gives them ("svc users set-password <email>")',
    );
}

async function migrateUser(migration: Migration, trx: TenantDb, user: SourceUser): Promise<Entry> {
  const email = normaliseEmail(user.email);
  const named = { kind: 'users' as const, name: email || user.username };
  if (!ADDRESS.test(email))
    return {
      ...named,
      name: user.username,
      outcome: 'skip',
      reason: 'it has no email address, which is what people log in with here',
    };
  const { roles, unknown } = mapRoles(user.roles);
  const remarks = [
    ...(unknown.length > 0 ? [`not taken over: ${unknown.join(', ')}, which has no counterpart here`] : []),
    ...(roles.length === 0 ? ['has no role, so nothing is open to it: give it one with "svc users set-roles"'] : []),
    ...(user.isActive ? [] : ['not active']),
  ];
  const id = await findUserIdByEmail(trx, email);
  if (id === undefined) {
    const made = await insertUserWithoutPassword(trx, email);
    if (made === undefined)
      return { ...named, outcome: 'skip', reason: 'somebody else made it at this moment: run this again' };
    await replaceRoles(trx, made.id, roles);
    if (!user.isActive) await updateUser(trx, made.id, { isActive: false });
    const reason = [roles.length > 0 ? `as ${roles.join(', ')}` : undefined, ...remarks].filter(Boolean).join('; ');
    return { ...named, outcome: 'create', reason };
  }
  const stored = await findUserById(trx, id);
  const isSame = stored?.is_active === user.isActive && stored.roles.join() === roles.join();
  if (isSame) return { ...named, outcome: 'same' };
  const difference = `is ${stored?.roles.join(', ') || 'without a role'}${stored?.is_active ? '' : ', not active'} here, would be ${roles.join(', ') || 'without a role'}${user.isActive ? '' : ', not active'}`;
  if (!migration.overwrites) return { ...named, outcome: 'left', reason: `${difference}; --overwrite changes it` };
  const change = await changeUserAccess(trx, id, { roles, isActive: user.isActive });
  if (change.kind === 'last_administrator')
    return { ...named, outcome: 'left', reason: `${difference}; it is the last administrator here and stays one` };
  return { ...named, outcome: 'change', reason: difference };
}
