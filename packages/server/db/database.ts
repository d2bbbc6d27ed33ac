/**
 * The way to Postgres. Code that serves a user takes `db.tenant(id)` and can touch that tenant's rows only; code that
 * serves all tenants (login, scheduler, heartbeats) takes `db.shared`, and says so by using it.
 */
import { Kysely, PostgresDialect } from 'kysely';
import { DatabaseUnavailableError } from './outage.ts';
import { WRITE_PROBE, createDiskWatch } from './full-disk.ts';
import type { DiskWatch } from './full-disk.ts';
import { openPool } from './connection-pool.ts';
import type { Pool, PoolLimits } from './connection-pool.ts';
import type { AllTables, TenantTables } from './schema.ts';
import { tenantScope } from './tenant-scope.ts';

export type TenantDb = Kysely<TenantTables>;
export type SharedDb = Kysely<AllTables>;

export type Database = {
  tenant(tenantId: string): TenantDb;
  readonly shared: SharedDb;
  /** A round trip in bounded time: what readiness is made of. Throws when the database is away, or its disk is full. */
  ping(): Promise<void>;
  /** Whether the other end of a connection is Postgres itself, and no pooler. */
  leadsToPostgres(): Promise<boolean>;
  poolUsage(): { idle: number; busy: number; waiting: number };
  /** Ends in bounded time, also when the database does not answer. */
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  /** Of Postgres itself, when `url` leads through a pooler in transaction mode. */
  directUrl?: string | undefined;
  maxOpenConns: number;
  maxIdleConns: number;
  /** Non-positive: no limit. */
  statementTimeoutMs: number;
  /** Non-positive: no limit. */
  idleInTransactionTimeoutMs: number;
  limits?: Partial<PoolLimits>;
  onConnectionLost?: (error: Error) => void;
  /** Shared by all pools of one database. */
  disk?: DiskWatch;
};

/** A probe that takes longer than this has its answer: not ready. */
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
    onConnectionLost: options.onConnectionLost,
    onOutage: (error) => disk.failed(error),
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
      await pool.end(); // Kysely forgets a pool it never used
    },
  };
}

/**
 * The same for a transaction that began before the tenant was known, as a login does. The plugin is what makes the type true:
 * it adds the tenant to every query, and refuses tables that belong to none.
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

/** Leaves the round trip to its own, longer limits and only stops waiting for it. */
async function withinPingTimeout(trip: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new DatabaseUnavailableError(new Error(`no answer within ${PING_TIMEOUT_MS} ms`), true));
    }, PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([trip, late]); // the race also takes care of a rejection that comes too late to matter
  } finally {
    clearTimeout(timer);
  }
}
