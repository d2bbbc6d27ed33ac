/**
 * Access to Postgres. Code that serves a user takes `db.tenant(id)` and can reach only rows of that tenant. Code that
 * serves all tenants (login, scheduler, heartbeats) takes `db.shared`, which makes this visible.
 */
import { Kysely, PostgresDialect } from 'kysely';
import { DatabaseUnavailableError } from './outage.ts';
import { WRITE_PROBE, createDiskWatch } from './full-disk.ts';
import type { DiskWatch } from './full-disk.ts';
import { openPool } from './connection-pool.ts';
import type { LifeSigns } from './connection-queue.ts';
import type { Pool, PoolLimits } from './connection-pool.ts';
import type { AllTables, TenantTables } from './schema.ts';
import { tenantScope } from './tenant-scope.ts';

export type TenantDb = Kysely<TenantTables>;
export type SharedDb = Kysely<AllTables>;

export type Database = {
  tenant(tenantId: string): TenantDb;
  readonly shared: SharedDb;
  /**
   * Makes a round trip in bounded time, for readiness. Rejects when the database is unreachable or its disk is full.
   */
  ping(): Promise<void>;
  /** True when the other end of a connection is Postgres itself and not a pooler. */
  leadsToPostgres(): Promise<boolean>;
  poolUsage(): { idle: number; busy: number; waiting: number };
  /** Ends in bounded time, even when the database does not answer. */
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  /** The address of Postgres itself, when `url` leads to a pooler in transaction mode. */
  directUrl?: string | undefined;
  maxOpenConns: number;
  maxIdleConns: number;
  /** Not positive: no limit. */
  statementTimeoutMs: number;
  /** Not positive: no limit. */
  idleInTransactionTimeoutMs: number;
  /** The limit for the answer to one statement. A larger one fails with an `AnswerTooLargeError`. */
  maxAnswerBytes?: number;
  limits?: Partial<PoolLimits>;
  onConnectionLost?: (error: Error) => void;
  /** Shared by all pools of one database. */
  disk?: DiskWatch;
  /** Shared by all pools of one database. An answer to one of them shows that it is there. */
  signs?: LifeSigns;
};

/** A probe that takes longer means "not ready". */
const PING_TIMEOUT_MS = 2_000;

export function openDatabase(options: DatabaseOptions): Database {
  const { disk = createDiskWatch() } = options;
  const pool = openPool({
    url: options.url,
    directUrl: options.directUrl,
    maxOpen: options.maxOpenConns,
    maxIdle: options.maxIdleConns,
    statementTimeoutMs: options.statementTimeoutMs,
    idleInTransactionTimeoutMs: options.idleInTransactionTimeoutMs,
    applicationName: 'svc',
    maxAnswerBytes: options.maxAnswerBytes,
    onConnectionLost: options.onConnectionLost,
    onOutage: (error) => disk.failed(error),
    signs: options.signs,
    ...(options.limits && { limits: options.limits }),
  });
  const shared = new Kysely<AllTables>({ dialect: new PostgresDialect({ pool }) });

  return {
    tenant: (tenantId) => scopedToTenant(shared, tenantId),
    shared,
    ping: () => withinPingTimeout(roundTrip(pool, disk)),
    leadsToPostgres: () => pool.leadsToPostgres(),
    poolUsage: () => pool.usage(),
    async close() {
      await shared.destroy();
      await pool.end(); // Kysely does not close a pool that it never used
    },
  };
}

/**
 * Scopes a transaction that began before the tenant was known, such as a login. The plugin makes the type true: it adds
 * the tenant to every query, and refuses tables without one.
 */
export const scopedToTenant = (db: SharedDb, tenantId: string): TenantDb =>
  db.withPlugin(tenantScope(tenantId)) as unknown as TenantDb;

async function roundTrip(pool: Pool, disk: DiskWatch): Promise<void> {
  await onConnection(pool, ['select 1']);
  await disk.check(() => onConnection(pool, WRITE_PROBE));
}

async function onConnection(pool: Pool, statements: readonly string[]): Promise<void> {
  const client = await pool.connect();
  let isDone = false;
  try {
    for (const statement of statements) await client.query(statement, []);
    isDone = true;
  } finally {
    client.release(!isDone); // a transaction may be open on it
  }
}

/** Leaves the round trip to its own, longer limits, and only stops waiting for it. */
async function withinPingTimeout(trip: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new DatabaseUnavailableError(new Error(`no answer within ${PING_TIMEOUT_MS} ms`), true));
    }, PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([trip, late]); // the race also handles a late rejection
  } finally {
    clearTimeout(timer);
  }
}
