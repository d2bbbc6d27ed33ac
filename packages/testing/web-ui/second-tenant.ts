/** A second tenant in a running lite: lite itself makes only one, but what it is made of keeps any number apart. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashPassword } from '@svc/server/auth/passwords.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { insertUser } from '@svc/server/db/identity/users.ts';
import { withDatabase } from '@svc/cli/database.ts';
import { runningUrl } from '@svc/cli/lite/postgres.ts';
import type { LiteInstance } from './lite-instance.ts';

/** With one administrator. */
export async function addTenant(
  lite: LiteInstance,
  { tenant, email, password }: { tenant: string; email: string; password: string },
): Promise<void> {
  // Postgres itself writes its port into the fourth line of this file.
  const port = Number(readFileSync(join(lite.data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3]);
  const databasePassword = readFileSync(join(lite.data, 'secrets', 'database-password'), 'utf8').trim();
  const passwordHash = await hashPassword(password);
  await withDatabase(runningUrl({ port, password: databasePassword }), async (db) => {
    const { id } = await ensureTenant(db.shared, tenant);
    await db
      .tenant(id)
      .transaction()
      .execute((trx) => insertUser(trx, { email, passwordHash, roles: ['admin'] }));
  });
}
