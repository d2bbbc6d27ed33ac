/**
 * The rows of workers. The process with a worker's stream writes its row, and all of its workers in one statement. A
 * worker whose row was not written for `LOST_AFTER_MS` is shown as lost, whatever its row says, because its owner may
 * have died with it.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Database, SharedDb, TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';
import type { WorkerKind, WorkerState } from '../tables/workers.ts';

export type { WorkerKind, WorkerState } from '../tables/workers.ts';

/** How often owners write their workers' rows. */
export const TOUCH_EVERY_MS = 2_000;
/** Several missed heartbeats: shown as lost. */
export const LOST_AFTER_MS = 15_000;
/** How long a worker that has left, or was lost, is shown. */
const SHOWN_AFTER_END_HOURS = 1;

/** A worker as its owner knows it when it connects. */
export type NewWorker = {
  id: string;
  /** Null: it serves all tenants. */
  tenantId: string | null;
  kind: WorkerKind;
  /** For people. The owner keeps it unique within a pool. */
  name: string;
  pool: string;
  queues?: readonly string[];
  tokenId?: string | null;
  dagId?: string | null;
  versionNumber?: number | null;
  hostname?: string;
  pid?: number | null;
  agentVersion?: string;
  state: WorkerState;
  slots: number;
  /** The process that has its stream. */
  owner: string;
};

/** The columns that change while it works. */
export type WorkerSign = { id: string; state: WorkerState; running: number; attemptsServed: number };

/** What its owner must know about it. */
export type WorkerOrders = {
  id: string;
  /** A request to take no more attempts. */
  drain: { by: string; why: string } | null;
  /** The token with which it joined is gone, or its tenant is disabled. */
  isRevoked: boolean;
};

export type WorkerRow = {
  id: string;
  tenant_id: string | null;
  kind: WorkerKind;
  name: string;
  pool: string;
  queues: string[];
  token_id: string | null;
  dag_id: string | null;
  version_number: number | null;
  hostname: string;
  pid: number | null;
  agent_version: string;
  state: WorkerState;
  slots: number;
  running: number;
  attempts_served: number;
  started_at: Moment;
  last_seen_at: Moment;
  owner: string;
  drain_requested_at: Moment | null;
  drain_requested_by: string | null;
  drain_why: string | null;
  ended_why: string | null;
};

/**
 * Records a worker that has connected or reconnected. It may be connected to another process than before, which owns it
 * from now on. A request to drain it stays.
 */
export async function recordWorker(db: Database, worker: NewWorker): Promise<void> {
  const values = {
    tenant_id: worker.tenantId,
    kind: worker.kind,
    name: worker.name,
    pool: worker.pool,
    queues: [...(worker.queues ?? [])],
    token_id: worker.tokenId ?? null,
    dag_id: worker.dagId ?? null,
    version_number: worker.versionNumber ?? null,
    hostname: worker.hostname ?? '',
    pid: worker.pid ?? null,
    agent_version: worker.agentVersion ?? '',
    state: worker.state,
    slots: worker.slots,
    owner: worker.owner,
  };
  await db.shared
    .insertInto('workers')
    .values({ id: worker.id, ...values })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...values, last_seen_at: sql`now()`, ended_why: null }),
    )
    .execute();
}

/**
 * Writes the heartbeats of all workers of one owner in one statement. Returns what the owner must do about them. A
 * worker that another process owns now is neither written nor returned.
 */
export async function touchWorkers(
  db: Database,
  owner: string,
  workers: readonly WorkerSign[],
): Promise<WorkerOrders[]> {
  if (workers.length === 0) return [];
  const { rows } = await sql<{ id: string; by: string | null; why: string | null; isRevoked: boolean }>`
    update workers w set state = s.state, running = s.running, last_seen_at = now(),
      attempts_served = greatest(w.attempts_served, s.served)
    from unnest(${workers.map(({ id }) => id)}::uuid[], ${workers.map(({ state }) => state)}::text[],
      ${workers.map(({ running }) => running)}::int[], ${workers.map(({ attemptsServed }) => attemptsServed)}::bigint[])
      as s (id, state, running, served)
    where w.id = s.id and w.owner = ${owner}
    returning w.id, w.drain_requested_by as by, w.drain_why as why,
      (w.token_id is not null and not exists (
        select 1 from worker_tokens t where t.tenant_id = w.tenant_id and t.id = w.token_id))
      or exists (select 1 from tenants t where t.id = w.tenant_id and t.disabled_at is not null) as "isRevoked"`.execute(
    db.shared,
  );
  return rows.map(({ id, by, why, isRevoked }) => ({
    id,
    drain: by === null ? null : { by, why: why ?? '' },
    isRevoked,
  }));
}

/**
 * Requests that it takes no more attempts, finishes its own, and leaves. Returns false when there is no such worker. A
 * worker that serves all tenants belongs to the installation, so only a `tenantId` of null drains it.
 */
export async function requestDrain(
  db: SharedDb | TenantDb,
  input: { tenantId: string | null; id: string; by: string; why: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update workers set drain_requested_at = coalesce(drain_requested_at, now()),
      drain_requested_by = coalesce(drain_requested_by, ${input.by}), drain_why = coalesce(drain_why, ${input.why})
    where id = ${input.id} and tenant_id is not distinct from ${input.tenantId}::uuid and state not in ('gone', 'lost')`.execute(
    db,
  );
  return (numAffectedRows ?? 0n) > 0n;
}

/** Records that it has left, or was given up. Its row is shown for a while. A former owner changes nothing. */
export async function removeWorker(
  db: Database,
  input: { id: string; owner: string; state: 'gone' | 'lost'; why: string },
): Promise<void> {
  await db.shared
    .updateTable('workers')
    .set({ state: input.state, running: 0, ended_why: input.why })
    .where('id', '=', input.id)
    .where('owner', '=', input.owner)
    .execute();
}

const shownState: RawBuilder<WorkerState> = sql`
  case when state not in ('gone', 'lost') and last_seen_at < now() - make_interval(secs => ${LOST_AFTER_MS / 1_000})
    then 'lost' else state end`;

/** Lists the workers of one tenant and those that serve all. `tenantId` null: only the latter. */
export async function listWorkers(
  db: Database,
  filter: {
    tenantId: string | null;
    kind?: WorkerKind | undefined;
    pool?: string | undefined;
    state?: WorkerState | undefined;
    id?: string | undefined;
    name?: string | undefined;
    limit?: number;
    offset?: number;
  },
): Promise<{ workers: WorkerRow[]; total: number }> {
  const conditions = [
    sql`(tenant_id is null or tenant_id = ${filter.tenantId}::uuid)`,
    ...(filter.kind === undefined ? [] : [sql`kind = ${filter.kind}`]),
    ...(filter.pool === undefined ? [] : [sql`(pool = ${filter.pool} or ${filter.pool} = any(queues))`]),
    ...(filter.state === undefined ? [] : [sql`${shownState} = ${filter.state}`]),
    ...(filter.id === undefined ? [] : [sql`id = ${filter.id}::uuid`]),
    ...(filter.name === undefined ? [] : [sql`name = ${filter.name}`]),
  ];
  const { rows } = await sql<WorkerRow & { total: number }>`
    select id, tenant_id, kind, name, pool, queues, token_id, dag_id, version_number, hostname, pid, agent_version,
      ${shownState} as state, slots, running, attempts_served, started_at, last_seen_at, owner,
      drain_requested_at, drain_requested_by, drain_why, ended_why, count(*) over ()::int as total
    from workers where ${sql.join(conditions, sql` and `)}
    order by kind, pool, name, started_at, id
    limit ${filter.limit ?? 1_000} offset ${filter.offset ?? 0}`.execute(db.shared);
  return { workers: rows.map(({ total: _total, ...worker }) => worker), total: rows[0]?.total ?? 0 };
}

export type WorkerCount = {
  kind: WorkerKind;
  pool: string;
  state: WorkerState;
  workers: number;
  slots: number;
  running: number;
};

/** Counts the workers of one tenant and those that serve all tenants. Without a tenant it counts all workers. */
export async function countWorkers(db: Database, filter: { tenantId?: string } = {}): Promise<WorkerCount[]> {
  const ofTenant =
    filter.tenantId === undefined ? sql`true` : sql`(tenant_id is null or tenant_id = ${filter.tenantId}::uuid)`;
  const { rows } = await sql<WorkerCount>`
    select kind, pool, ${shownState} as state, count(*)::int as workers, sum(slots)::int as slots,
      sum(running)::int as running
    from workers where ${ofTenant} group by 1, 2, 3 order by 1, 2, 3`.execute(db.shared);
  return rows;
}

/** Counts free slots of local workers that other processes own, as of their last heartbeats. */
export async function countFreeLocalSlots(db: Database, { exceptOwner }: { exceptOwner: string }): Promise<number> {
  const { rows } = await sql<{ free: number }>`
    select coalesce(sum(greatest(slots - running, 0)), 0)::int as free from workers
    where kind = 'local' and owner <> ${exceptOwner} and ${shownState} in ('idle', 'busy')`.execute(db.shared);
  return rows[0]?.free ?? 0;
}

export type QueueUse = { workers: number; slots: number; running: number };

/** Counts the remote workers of a tenant that currently take tasks of a queue. */
export async function findQueueUse(db: Database, input: { tenantId: string; queue: string }): Promise<QueueUse> {
  const { rows } = await sql<QueueUse>`
    select count(*)::int as workers, coalesce(sum(slots), 0)::int as slots, coalesce(sum(running), 0)::int as running
    from workers
    where tenant_id = ${input.tenantId} and kind = 'remote' and ${input.queue} = any(queues)
      and ${shownState} in ('idle', 'busy')`.execute(db.shared);
  return rows[0] ?? { workers: 0, slots: 0, running: 0 };
}

/** Deletes rows of workers that have been away for long. */
export async function deleteOldWorkers(db: Database): Promise<void> {
  await sql`
    delete from workers where last_seen_at < now() - make_interval(hours => ${SHOWN_AFTER_END_HOURS})`.execute(
    db.shared,
  );
}
