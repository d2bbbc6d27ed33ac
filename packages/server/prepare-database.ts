/**
 * Prepares what a process needs before it serves requests:
 *
 *   migrates          schema brought up to date, default tenant and first admin created
 *   does not          it waits, because the process that migrates may come later; /readyz shows the reason meanwhile
 *   role api          never creates a tenant or an admin, because its database user may not; it waits for a scheduler
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { NOBODY_THERE, bootstrapAdmin, createEmptyCheck } from './auth/bootstrap.ts';
import { ensureTenant, refreshTenants } from './auth/tenants.ts';
import type { Config } from './config/load.ts';
import { needsFirstUser } from './config/resolved.ts';
import type { Database } from './db/database.ts';
import { DEFAULT_TENANT, findTenantByName } from './db/identity/tenants.ts';
import type { Tenant } from './db/identity/tenants.ts';
import { checkDatabasePath, refusedSetting, sessionUrl, settingRefused } from './db/database-path.ts';
import { migrate, missingMigrations } from './db/migrate.ts';
import { isOutage } from './db/outage.ts';

const RETRY_MS = 500;

/** Another process or person must act first. */
class NotYet extends Error {}

/** True when this process brings the schema up to date. */
export const migrates = ({ database, server }: Config): boolean =>
  database.migrate === 'always' || (database.migrate === 'auto' && server.role !== 'api');

/**
 * Waits for the database as long as necessary. Any other error needs a person. Returns null when it is asked to stop.
 */
export async function prepareDatabase(input: {
  config: Config;
  db: Database;
  logger: Logger;
  signal: AbortSignal;
  /** Called when people can end the wait. */
  onWait: (reason: string) => void;
}): Promise<Tenant | null> {
  const { logger, signal, onWait } = input;
  let reported = '';
  while (!signal.aborted) {
    try {
      return await prepareOnce(input);
    } catch (error) {
      if (signal.aborted) return null;
      const reason = error instanceof NotYet ? error.message : 'waiting for the database';
      if (!(error instanceof NotYet) && !(isOutage(error) && error.transient)) throw error;
      if (error instanceof NotYet) onWait(reason);
      if (reported !== reason)
        logger.warn({ code: 'SVC1003', ...(error instanceof NotYet ? {} : { err: error }) }, reason);
      reported = reason;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {}); // aborted: the loop condition ends it
    }
  }
  return null;
}

/** Throws a `DatabasePathError` when something between this process and Postgres is unusable. */
async function checkPath(config: Config, db: Database): Promise<void> {
  const isPostgres = await db.leadsToPostgres().catch((error: unknown) => {
    const refused = refusedSetting(error);
    throw refused === undefined ? error : settingRefused('database.url', refused);
  });
  if (!isPostgres || config.database.directUrl !== '') await checkDatabasePath(config);
}

async function prepareOnce({ config, db, logger }: Parameters<typeof prepareDatabase>[0]): Promise<Tenant> {
  await checkPath(config, db);
  if (migrates(config)) {
    const { applied } = await migrate(sessionUrl(config));
    if (applied.length > 0) logger.info({ applied }, 'database schema migrated');
  } else {
    const missing = await missingMigrations(db).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== '42501') throw error;
      throw new NotYet(
        'this identity of the database may not read its schema: run "svc db grant" with the database.url of the owner of the tables',
      );
    });
    if (missing.length > 0) {
      throw new NotYet(
        `the database schema is older than this version of svc (${missing.length} migrations are missing, the last is ${missing.at(-1)}), and this process does not migrate: start a scheduler of this version, or run "svc db migrate"`,
      );
    }
  }
  if (config.server.role === 'api' && !migrates(config)) return waitForTenant(db);
  const tenant = await ensureTenant(db.shared, DEFAULT_TENANT);
  await refreshTenants(db.shared);
  await bootstrapAdmin({ db: db.tenant(tenant.id), ...config.auth.bootstrap, logger });
  if (needsFirstUser(config) && (await createEmptyCheck(db.shared)())) logger.warn({ code: 'SVC1004' }, NOBODY_THERE);
  return tenant;
}

async function waitForTenant(db: Database): Promise<Tenant> {
  const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
  if (!tenant) throw new NotYet('nothing is set up in the database yet: start a scheduler, which does it');
  return tenant;
}
