/**
 * The way to Postgres. Code that serves a user takes `db.tenant(id)` and can touch that tenant's rows only; code that
 * serves all tenants (login, scheduler, heartbeats) takes `db.shared`, and says so by using it.
 */
import { Kysely, PostgresDialect } from 'kysely';
import type { PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { isOutage } from './outage.ts';
import type { AllTables, TenantTables } from './schema.ts';
import { tenantScope } from './tenant-scope.ts';

export type TenantDb = Kysely<TenantTables>;
export type SharedDb = Kysely<AllTables>;

export type Database = {
  tenant(tenantId: string): TenantDb;
  readonly shared: SharedDb;
  /** A round trip on a connection of its own limit: what readiness is made of. Throws when the database is away. */
  ping(): Promise<void>;
  poolUsage(): { idle: number; busy: number; waiting: number };
  close(): Promise<void>;
};

export type DatabaseOptions = {
  url: string;
  maxOpenConns: number;
  maxIdleConns: number;
  statementTimeoutMs: number;
  idleInTransactionTimeoutMs: number;
  onConnectionLost?: (error: Error) => void;
};

/** How long a request waits for a connection before it is told 503. */
const CONNECT_TIMEOUT_MS = 5_000;
/** The server cancels at the statement timeout; past this much more it is not answering at all (paused, network gone). */
const ANSWER_GRACE_MS = 2_000;
const IDLE_ABOVE_MINIMUM_MS = 10_000;
const PING_TIMEOUT_MS = 2_000;

// bigint identities and counts stay far below 2^53; a number is what JSON wants.
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
};

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxOpenConns,
    min: Math.min(options.maxIdleConns, options.maxOpenConns), // connections above this close when idle
    idleTimeoutMillis: IDLE_ABOVE_MINIMUM_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs,
    query_timeout: options.statementTimeoutMs > 0 ? options.statementTimeoutMs + ANSWER_GRACE_MS : undefined,
    keepAlive: true,
    application_name: 'svc',
    types,
  });
  // Without a handler, a backend that dies while its connection is idle would end this process.
  pool.on('error', (error) => options.onConnectionLost?.(error));

  const shared = new Kysely<AllTables>({ dialect: new PostgresDialect({ pool: discardingBroken(pool) }) });

  return {
    tenant: (tenantId) => scopedToTenant(shared, tenantId),
    shared,
    async ping() {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        // pg reads a per-query limit from the query config; its types do not know it.
        await client.query({ text: 'select 1', query_timeout: PING_TIMEOUT_MS } as pg.QueryConfig);
      } catch (error) {
        broken = error as Error;
        throw error;
      } finally {
        client.release(broken);
      }
    },
    poolUsage: () => ({
      idle: pool.idleCount,
      busy: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => shared.destroy(),
  };
}

/** The same for a transaction that began before the tenant was known, as a login does. */
export const scopedToTenant = (db: SharedDb, tenantId: string): TenantDb =>
  db.withPlugin(tenantScope(tenantId)) as unknown as TenantDb;

/**
 * Kysely gives a connection back to the pool whatever happened on it. After an outage error the connection is dead, or
 * still busy with a query nobody waits for, and the next request would inherit that: such a connection is closed instead.
 */
function discardingBroken(pool: pg.Pool) {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect(): Promise<PostgresPoolClient> {
      const client = await pool.connect();
      let broken = false;
      const onError = () => (broken = true);
      client.on('error', onError); // the pool listens only while a connection is idle
      return {
        query: (async (...args: [string, unknown[]]) => {
          try {
            return await client.query(...args);
          } catch (error) {
            broken ||= isOutage(error);
            throw error;
          }
        }) as unknown as PostgresPoolClient['query'],
        release() {
          client.off('error', onError);
          client.release(broken);
        },
      } as PostgresPoolClient;
    },
  };
}
