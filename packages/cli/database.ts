/** Direct access to the database, for commands that run next to the control plane instead of calling it. */
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import { GrantError, grant, grantStatements } from '@svc/server/db/grants/grant.ts';
import { MigrationRefusedError, SchemaTooNewError, migrate } from '@svc/server/db/migrate.ts';
import type { DatabaseRole } from '@svc/server/db/schema.ts';
import { isOutage } from '@svc/server/db/outage.ts';
import { DEFAULT_TENANT, findTenantByName } from '@svc/server/db/identity/tenants.ts';
import { tenantHasUsers } from '@svc/server/db/identity/users.ts';
import { CliError, messageOf } from './cli-error.ts';

const LIMITS = { maxOpenConns: 2, maxIdleConns: 0, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 };

export async function withDatabase<T>(url: string, use: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url, ...LIMITS });
  try {
    return await use(db);
  } catch (error) {
    throw explained(url, error);
  } finally {
    await db.close();
  }
}

export async function migrateSchema(url: string): Promise<{ applied: string[] }> {
  try {
    return await migrate(url);
  } catch (error) {
    throw explained(url, error);
  }
}

/** Returns the statements. Unless it is a dry run, they were executed. */
export async function grantDatabaseRole(
  url: string,
  { isDryRun, ...wanted }: { role: DatabaseRole; user: string; isDryRun: boolean },
): Promise<string[]> {
  return withDatabase(url, (db) => (isDryRun ? grantStatements : grant)(db.shared, wanted));
}

/** Updates the schema, and returns whether users exist. Used for the first start of an installation. */
export async function prepareSchema(url: string): Promise<{ applied: string[]; hasUsers: boolean }> {
  const { applied } = await migrateSchema(url);
  const hasUsers = await withDatabase(url, async (db) => {
    const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
    return tenant !== undefined && (await tenantHasUsers(db.tenant(tenant.id)));
  });
  return { applied, hasUsers };
}

function explained(url: string, error: unknown): unknown {
  if ([SchemaTooNewError, MigrationRefusedError, GrantError].some((kind) => error instanceof kind)) {
    return new CliError(messageOf(error), { cause: error });
  }
  const { code } = error as { code?: unknown };
  const refused = code === '28P01' || code === '28000' || code === '3D000';
  if (!refused && !isOutage(error)) return error;
  const { host, pathname } = URL.parse(url) ?? { host: '?', pathname: '' };
  return new CliError(`the database ${pathname.slice(1)} at ${host} does not let us in: ${messageOf(error)}`, {
    cause: error,
    hint: 'check database.url (SVC_DATABASE_URL): "svc config" shows what is in force',
  });
}
