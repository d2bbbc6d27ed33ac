/** Users of the database with nothing but what `svc db grant` gives them, as split processes log in. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { openDatabase } from '@svc/server/db/database.ts';
import { grant } from '@svc/server/db/grants/grant.ts';
import type { DatabaseRole } from '@svc/server/db/schema.ts';

export type DatabaseIdentities = {
  /** URLs of the same database. */
  api: string;
  scheduler: string;
  /** When nobody is logged in any more. */
  drop(): Promise<void>;
};

/** `ownerUrl`: of a migrated database. */
export async function createIdentities(ownerUrl: string): Promise<DatabaseIdentities> {
  const suffix = randomBytes(6).toString('hex');
  const users = { api: `svc_api_${suffix}`, scheduler: `svc_scheduler_${suffix}` };
  const password = randomBytes(12).toString('hex');
  const asOwner = async (statements: readonly string[]): Promise<void> => {
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  await asOwner(Object.values(users).map((user) => `create role ${user} login password '${password}'`));
  const limits = { maxOpenConns: 1, maxIdleConns: 0, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };
  const db = openDatabase({ url: ownerUrl, ...limits });
  for (const role of ['api', 'scheduler'] as const) await grant(db.shared, { role, user: users[role] });
  await db.close();
  const urlOf = (role: DatabaseRole): string => {
    const url = new URL(ownerUrl);
    [url.username, url.password] = [users[role], password];
    return url.toString();
  };
  return {
    api: urlOf('api'),
    scheduler: urlOf('scheduler'),
    drop: () => asOwner(Object.values(users).flatMap((user) => [`drop owned by ${user}`, `drop role ${user}`])),
  };
}
