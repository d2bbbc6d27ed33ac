/**
 * Triggers: what deferred tasks wait for. A trigger of a task counts while its instance is deferred with the attempt
 * that created it. Every change of the instance therefore removes the trigger.
 */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow, TriggerRow } from '../../db/schema.ts';
import { LIVE } from '../../db/state-sets.ts';

/**
 * What a task waits for without a process, and how it continues. Texts are JSON as the runtime encoded it, or sealed.
 */
export type Deferral = {
  classPath: string;
  kwargs: string;
  nextMethod: string;
  nextKwargs: string;
  timeoutSeconds: number | null;
  /** For triggers that the engine decides: the moment at which it fires, with the event. */
  firesAt?: string | null;
  event?: string | null;
  /** For triggers that the engine decides: the states that other runs must reach. */
  awaits?: Awaits | null;
};

/** Runs of another DAG, or tasks in them, by run ids or by logical dates. */
export type Awaits = {
  dagId: string;
  runIds: readonly string[] | null;
  logicalDates: readonly string[] | null;
  /** Null: the runs themselves. Empty: all tasks. */
  taskIds: readonly string[] | null;
  taskGroupId: string | null;
  allowed: readonly string[];
  skipped: readonly string[];
  failed: readonly string[];
  /** Returned together with the states of the runs (JSON). Null: the event says in one word how they ended. */
  echo: string | null;
};

/** The names of runs for tasks that wait for them. */
export const nameOfRun = (runId: string): string => `id:${runId}`;
export const nameOfDate = (logicalDate: string): string => `at:${logicalDate}`;
export const awaitedNames = ({ runIds, logicalDates }: Pick<Awaits, 'runIds' | 'logicalDates'>): string[] =>
  runIds === null ? (logicalDates ?? []).map(nameOfDate) : runIds.map(nameOfRun);

export type NewTrigger = {
  row: Pick<InstanceRow, 'tenant_id' | 'run' | 'task_id' | 'map_index' | 'try_number' | 'attempt_id' | 'dag_id'>;
  versionNumber: number;
  deferral: Deferral;
  timeoutAt: string | null;
};

/** The trigger of an instance of which nothing has run. */
export type NewStart = NewTrigger & { dueAt: string | null; firstPokeAt: string | null };

/** Stores one trigger per instance and removes the trigger for which it waited before. */
export async function replaceTriggers(trx: SharedDb, triggers: readonly NewTrigger[]): Promise<void> {
  if (triggers.length === 0) return;
  await Promise.all([
    deleteTriggersOf(
      trx,
      triggers.map(({ row }) => row),
    ),
    trx.insertInto('triggers').values(triggers.map(rowOf)).execute(),
  ]);
}

const rowOf = ({ row, versionNumber, deferral, timeoutAt }: NewTrigger) => ({
  tenant_id: row.tenant_id,
  kind: 'task' as const,
  dag_id: row.dag_id,
  version_number: versionNumber,
  run: row.run,
  task_id: row.task_id,
  map_index: row.map_index,
  try_number: row.try_number,
  attempt_id: row.attempt_id,
  class_path: deferral.classPath,
  kwargs: deferral.kwargs,
  next_method: deferral.nextMethod,
  next_kwargs: deferral.nextKwargs,
  timeout_at: timeoutAt,
  fires_at: deferral.firesAt ?? null,
  event: deferral.event ?? null,
  ...(deferral.awaits && {
    awaits: JSON.stringify(deferral.awaits),
    awaits_dag_id: deferral.awaits.dagId,
    awaits_runs: awaitedNames(deferral.awaits),
  }),
});

/**
 * Stores what only an attempt has, which the inserts of new instances do not write. Send it after the statements that
 * write the instances. It sends its statements before its first await.
 */
export async function insertStarts(trx: SharedDb, starts: readonly NewStart[]): Promise<void> {
  if (starts.length === 0) return;
  const rows = starts.map(({ row }) => row);
  const attempts = sql`
    update task_instances t set attempt_id = k.attempt_id, due_at = k.due_at, first_poke_at = k.first_poke_at
    from unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
      ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[],
      ${rows.map((row) => row.attempt_id)}::uuid[], ${starts.map(({ dueAt }) => dueAt)}::timestamptz[],
      ${starts.map(({ firstPokeAt }) => firstPokeAt)}::timestamptz[])
      as k(tenant_id, run, task_id, map_index, attempt_id, due_at, first_poke_at)
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index`;
  await Promise.all([attempts.execute(trx), replaceTriggers(trx, starts)]);
}

type InstanceKey = Pick<InstanceRow, 'tenant_id' | 'run' | 'task_id' | 'map_index'>;

/** Query plan: index triggers_of_instance. */
export async function deleteTriggersOf(trx: SharedDb, rows: readonly InstanceKey[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    delete from triggers t using unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
      ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[])
      as k(tenant_id, run, task_id, map_index)
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      and t.kind = 'task'`.execute(trx);
}

/** Returns the triggers of these instances. Query plan: index triggers_of_instance. */
export async function findTriggersOf(trx: SharedDb, rows: readonly InstanceKey[]): Promise<TriggerRow[]> {
  if (rows.length === 0) return [];
  const found = await sql<TriggerRow>`
    select t.* from triggers t join unnest(${rows.map((row) => row.tenant_id)}::uuid[],
      ${rows.map((row) => row.run)}::bigint[], ${rows.map((row) => row.task_id)}::text[],
      ${rows.map((row) => row.map_index)}::int[]) as k(tenant_id, run, task_id, map_index)
      on t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
    where t.kind = 'task'`.execute(trx);
  return found.rows;
}

export type TriggererRef = { tenantId: string; triggererId: string };

/** True when something still waits for the trigger. */
const isLive = sql`(t.kind in ('asset', 'callback') or t.kind = 'task' and exists (
    select 1 from task_instances i
    where i.tenant_id = t.tenant_id and i.run = t.run and i.task_id = t.task_id and i.map_index = t.map_index
      and i.state = 'deferred' and i.attempt_id = t.attempt_id))`;

export type UnheldTrigger = {
  tenantId: string;
  id: number;
  dagId: string;
  versionNumber: number;
  classPath: string;
  kind: TriggerRow['kind'];
  fileloc: string;
  failures: number;
};

/** Finds triggers without a triggerer. Query plan: index triggers_unheld, as many rows as must be assigned. */
export async function findUnheldTriggers(db: SharedDb, limit: number): Promise<UnheldTrigger[]> {
  const { rows } = await sql<UnheldTrigger>`
    select t.tenant_id as "tenantId", t.id, t.dag_id as "dagId", t.version_number as "versionNumber", t.class_path as "classPath",
      t.kind, d.fileloc, t.failures
    from triggers t
    join tenants on tenants.id = t.tenant_id and tenants.disabled_at is null
    join dags d on d.tenant_id = t.tenant_id and d.dag_id = t.dag_id
    where t.triggerer_id is null and t.fired_at is null and t.fires_at is null and t.awaits_dag_id is null and ${isLive}
    order by t.tenant_id, t.id limit ${limit}`.execute(db);
  return rows;
}

/** Returns DAGs for whose runs a task waits. Query plan: index triggers_awaiting, one row per waiting task. */
export async function listAwaitedDags(db: SharedDb): Promise<{ tenantId: string; dagId: string }[]> {
  const { rows } = await sql<{ tenantId: string; dagId: string }>`
    select distinct tenant_id as "tenantId", awaits_dag_id as "dagId" from triggers
    where awaits_dag_id is not null and fired_at is null`.execute(db);
  return rows;
}

/**
 * Returns the triggers that wait for runs of the DAG; with `names`, only for these runs. Query plan: index
 * triggers_awaiting.
 */
export async function findAwaiting(
  db: SharedDb,
  { tenantId, dagId, names }: { tenantId: string; dagId: string; names: readonly string[] | null },
): Promise<TriggerRow[]> {
  const { rows } = await sql<TriggerRow>`
    select t.* from triggers t join tenants on tenants.id = t.tenant_id and tenants.disabled_at is null
    where t.tenant_id = ${tenantId} and t.awaits_dag_id = ${dagId} and t.awaits_dag_id is not null and t.fired_at is null
      and (${names === null} or t.awaits_runs && ${names ?? []}::text[]) and ${isLive}`.execute(db);
  return rows;
}

type Holding = { tenantId: string; place: string; dagId: string; versionNumber: number; triggerIds: readonly number[] };

/** Leases the triggers to the triggerer of the place, which is created if there is none. */
export async function holdTriggers(db: Database, input: Holding): Promise<{ triggererId: string; isNew: boolean }> {
  for (;;) {
    const held = await tryHold(db, input);
    if (held) return held;
  }
}

/** Returns undefined when the triggerer of the place ends at this moment. The next call creates another one. */
async function tryHold(db: Database, input: Holding): Promise<{ triggererId: string; isNew: boolean } | undefined> {
  const { tenantId, place } = input;
  return db.shared.transaction().execute(async (trx) => {
    const made = await sql<{ id: string }>`
      insert into triggerers (tenant_id, place, dag_id, version_number)
      values (${tenantId}, ${place}, ${input.dagId}, ${input.versionNumber})
      on conflict (tenant_id, place) do nothing returning id`.execute(trx);
    // Locked, because a triggerer without triggers must not end at this moment.
    const { rows } = await sql<{ id: string }>`
      select id from triggerers where tenant_id = ${tenantId} and place = ${place} for update`.execute(trx);
    const triggererId = rows[0]?.id;
    if (triggererId === undefined) return undefined;
    await sql`
      update triggers set triggerer_id = ${triggererId}
      where tenant_id = ${tenantId} and id = any(${[...input.triggerIds]}::bigint[]) and triggerer_id is null
        and fired_at is null`.execute(trx);
    return { triggererId, isNew: made.rows.length > 0 };
  });
}

/**
 * Returns the triggers of the triggerer that are still awaited, and those that a person has killed. Query plan: index
 * triggers_held.
 */
export async function listHeldTriggers(
  db: SharedDb,
  ref: TriggererRef,
): Promise<{ awaited: number[]; killed: number[] }> {
  const { rows } = await sql<{ id: number; kind: TriggerRow['kind'] }>`
    select t.id, t.kind from triggers t
    where t.tenant_id = ${ref.tenantId} and t.triggerer_id = ${ref.triggererId} and t.fired_at is null
      and (t.kind = 'killed' or ${isLive})
    order by t.id`.execute(db);
  const { killed = [], awaited = [] } = Object.groupBy(rows, ({ kind }) => (kind === 'killed' ? kind : 'awaited'));
  return { awaited: awaited.map(({ id }) => id), killed: killed.map(({ id }) => id) };
}

/**
 * Keeps the triggers of instances that a person clears or marks, for `on_kill`. A trigger that no triggerer has started
 * stays as it is, and nothing waits for it any more.
 */
export async function killTriggers(trx: SharedDb, rows: readonly InstanceKey[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update triggers t set kind = 'killed'
    from unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
      ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[])
      as k(tenant_id, run, task_id, map_index)
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      and t.kind = 'task' and t.triggerer_id is not null and t.fired_at is null`.execute(trx);
}

/** Deletes killed triggers that their triggerer has stopped. */
export async function deleteKilledTriggers(db: SharedDb, tenantId: string, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    delete from triggers where tenant_id = ${tenantId} and id = any(${[...ids]}::bigint[])
      and kind = 'killed'`.execute(db);
}

export async function readTriggers(db: Database, tenantId: string, ids: readonly number[]): Promise<TriggerRow[]> {
  if (ids.length === 0) return [];
  return db.shared
    .selectFrom('triggers')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute();
}

/** Returns the trigger if this triggerer has its lease and something still waits for it, or `on_kill` may run. */
export async function findHeldTrigger(
  db: SharedDb,
  ref: TriggererRef & { triggerId: number },
): Promise<TriggerRow | undefined> {
  const { rows } = await sql<TriggerRow>`
    select t.* from triggers t join triggerers r on r.tenant_id = t.tenant_id and r.id = t.triggerer_id
    where t.tenant_id = ${ref.tenantId} and t.id = ${ref.triggerId} and t.triggerer_id = ${ref.triggererId}
      and t.fired_at is null and (t.kind = 'killed' or ${isLive})`.execute(db);
  return rows[0];
}

export type TriggerEvent = { tenantId: string; triggerId: number; triggererId: string | null; event: string };

/**
 * Records events and returns the triggers that count. A trigger does not count when another triggerer has its lease
 * now, or when it has fired. Locks rows in the order of their ids, like the transaction that gives up a triggerer.
 */
export async function recordEvents(trx: SharedDb, events: readonly TriggerEvent[]): Promise<Set<number>> {
  if (events.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`
    with k as (
      select * from unnest(${events.map(({ tenantId }) => tenantId)}::uuid[], ${events.map(({ triggerId }) => triggerId)}::bigint[],
        ${events.map(({ triggererId }) => triggererId)}::uuid[], ${events.map(({ event }) => event)}::text[])
        as k(tenant_id, id, triggerer_id, event)
    ), locked as (
      select t.tenant_id, t.id, k.event from triggers t join k on t.tenant_id = k.tenant_id and t.id = k.id
      where t.triggerer_id is not distinct from k.triggerer_id and t.fired_at is null
      order by t.id for update of t
    )
    update triggers t set event = l.event, fired_at = clock_timestamp(), triggerer_id = null
    from locked l where t.tenant_id = l.tenant_id and t.id = l.id returning t.id`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** Deletes a trigger after it has done its work. Returns false when another triggerer has its lease. */
export async function deleteTrigger(db: SharedDb, ref: TriggererRef & { triggerId: number }): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from triggers where tenant_id = ${ref.tenantId} and id = ${ref.triggerId}
      and triggerer_id = ${ref.triggererId}`.execute(db);
  return numAffectedRows === 1n;
}

/** Records that the triggerer has started on this host. Returns false when it was given up. */
export async function startTriggerer(db: Database, ref: TriggererRef, hostname: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update triggerers set started_at = coalesce(started_at, clock_timestamp()), hostname = ${hostname},
      heartbeat_at = clock_timestamp()
    where tenant_id = ${ref.tenantId} and id = ${ref.triggererId}`.execute(db.shared);
  return numAffectedRows === 1n;
}

/** Renews the leases. Returns the triggerers that were not given up. */
export async function renewTriggerers(db: Database, refs: readonly TriggererRef[]): Promise<Set<string>> {
  if (refs.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    update triggerers t set heartbeat_at = clock_timestamp()
    from unnest(${refs.map((ref) => ref.tenantId)}::uuid[], ${refs.map((ref) => ref.triggererId)}::uuid[]) as k(tenant_id, id)
    where t.tenant_id = k.tenant_id and t.id = k.id returning t.id`.execute(db.shared);
  return new Set(rows.map(({ id }) => id));
}

export async function isTriggererLive(db: Database, ref: TriggererRef): Promise<boolean> {
  const { rows } = await sql`
    select 1 from triggerers where tenant_id = ${ref.tenantId} and id = ${ref.triggererId}`.execute(db.shared);
  return rows.length > 0;
}

/**
 * Gives up the triggerer, so that another one can lease its triggers. `hasFailed`: it ended unexpectedly, and its
 * triggers may be the cause. Returns false when it was given up before.
 */
export async function giveUpTriggerer(
  db: Database,
  ref: TriggererRef,
  { hasFailed }: { hasFailed: boolean },
): Promise<boolean> {
  return db.shared.transaction().execute(async (trx) => {
    const { rows } = await sql`
      select 1 from triggerers where tenant_id = ${ref.tenantId} and id = ${ref.triggererId} for update`.execute(trx);
    if (rows.length === 0) return false;
    await sql`
      with held as (
        select id from triggers where tenant_id = ${ref.tenantId} and triggerer_id = ${ref.triggererId}
        order by id for update
      )
      update triggers t set triggerer_id = null, failures = failures + ${hasFailed ? 1 : 0}
      from held where t.tenant_id = ${ref.tenantId} and t.id = held.id`.execute(trx);
    await sql`delete from triggerers where tenant_id = ${ref.tenantId} and id = ${ref.triggererId}`.execute(trx);
    return true;
  });
}

/** Removes a triggerer whose triggers nothing awaits. Returns true when it is removed. */
export async function retireTriggerer(db: Database, ref: TriggererRef): Promise<boolean> {
  return db.shared.transaction().execute(async (trx) => {
    await sql`select 1 from triggerers where tenant_id = ${ref.tenantId} and id = ${ref.triggererId} for update`.execute(
      trx,
    );
    const { rows } = await sql`
      delete from triggerers r where r.tenant_id = ${ref.tenantId} and r.id = ${ref.triggererId} and not exists (
        select 1 from triggers t where t.tenant_id = r.tenant_id and t.triggerer_id = r.id and t.fired_at is null
          and ${isLive})
      returning 1`.execute(trx);
    return rows.length > 0;
  });
}

/** Finds triggerers without heartbeats for this time. A handful of rows. */
export async function findSilentTriggerers(db: Database, leaseMs: number): Promise<TriggererRef[]> {
  const { rows } = await sql<TriggererRef>`
    select tenant_id as "tenantId", id as "triggererId" from triggerers
    where abs(extract(epoch from clock_timestamp() - heartbeat_at)) > ${leaseMs / 1_000}::float8`.execute(db.shared);
  return rows;
}

/**
 * Deletes triggers of tasks that no longer wait for them, or whose try has ended, and killed ones without a triggerer.
 * Query plan: triggers, one row per deferred task.
 */
export async function deleteForgottenTriggers(db: Database): Promise<void> {
  await sql`
    delete from triggers t where t.kind = 'killed' and t.triggerer_id is null or t.kind = 'task' and not exists (
      select 1 from task_instances i
      where i.tenant_id = t.tenant_id and i.run = t.run and i.task_id = t.task_id and i.map_index = t.map_index
        and i.try_number = t.try_number and i.first_poke_at is not null
        and i.state in ${LIVE.raw})`.execute(db.shared);
}
