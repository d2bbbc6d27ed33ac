/**
 * Triggers: what deferred tasks wait for. A trigger of a task counts while its instance is deferred with the attempt that made
 * it; whoever changes the instance in any way has thereby taken the trigger away.
 */
import { sql } from 'kysely';
import type { Database, SharedDb } from '../../db/database.ts';
import type { InstanceRow, TriggerRow } from '../../db/schema.ts';

/** What a task waits for without a process, and how it goes on. Texts are JSON as the runtime encoded it, or sealed. */
export type Deferral = {
  classPath: string;
  kwargs: string;
  nextMethod: string;
  nextKwargs: string;
  timeoutSeconds: number | null;
  /** Decided by the engine: the moment at which it fires, with the event. */
  firesAt?: string | null;
  event?: string | null;
  /** Decided by the engine: what other runs must come to. */
  awaits?: Awaits | null;
};

/** Runs of another DAG, or tasks in them, by run ids or by logical dates. */
export type Awaits = {
  dagId: string;
  runIds: readonly string[] | null;
  logicalDates: readonly string[] | null;
  /** Null: the runs themselves. None: all tasks. */
  taskIds: readonly string[] | null;
  taskGroupId: string | null;
  allowed: readonly string[];
  skipped: readonly string[];
  failed: readonly string[];
  /** Given back beside the states of the runs (JSON); null: the event says how they ended, in a word. */
  echo: string | null;
};

/** What runs are called where they are waited for. */
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

/** Of an instance that nothing has run of yet. */
export type NewStart = NewTrigger & { dueAt: string | null; firstPokeAt: string | null };

/** One for each instance: what it waited for before is over. */
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

/** Behind the statements that write the instances, which may be new: those do not say what only an attempt has. Sent at once. */
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

/** Plan: index triggers_of_instance. */
export async function deleteTriggersOf(trx: SharedDb, rows: readonly InstanceKey[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    delete from triggers t using unnest(${rows.map((row) => row.tenant_id)}::uuid[], ${rows.map((row) => row.run)}::bigint[],
      ${rows.map((row) => row.task_id)}::text[], ${rows.map((row) => row.map_index)}::int[])
      as k(tenant_id, run, task_id, map_index)
    where t.tenant_id = k.tenant_id and t.run = k.run and t.task_id = k.task_id and t.map_index = k.map_index
      and t.kind = 'task'`.execute(trx);
}

/** Of these instances. Plan: index triggers_of_instance. */
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

/** Whether something still waits for the trigger. */
const isLive = sql`(t.kind <> 'task' or exists (
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

/** Nobody waits for them yet. Plan: index triggers_unheld, as many rows as are to be given out. */
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

/** DAGs whose runs somebody waits for. Plan: index triggers_awaiting, a row for each that waits. */
export async function listAwaitedDags(db: SharedDb): Promise<{ tenantId: string; dagId: string }[]> {
  const { rows } = await sql<{ tenantId: string; dagId: string }>`
    select distinct tenant_id as "tenantId", awaits_dag_id as "dagId" from triggers
    where awaits_dag_id is not null and fired_at is null`.execute(db);
  return rows;
}

/** Who waits for runs of the DAG; for those of these names only, if there are any. Plan: index triggers_awaiting. */
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

/** The triggerer of the place, made when there is none, holds them from now on. */
export async function holdTriggers(db: Database, input: Holding): Promise<{ triggererId: string; isNew: boolean }> {
  for (;;) {
    const held = await tryHold(db, input);
    if (held) return held;
  }
}

/** Undefined when the triggerer of the place has left at this moment: the next one is there to be made. */
async function tryHold(db: Database, input: Holding): Promise<{ triggererId: string; isNew: boolean } | undefined> {
  const { tenantId, place } = input;
  return db.shared.transaction().execute(async (trx) => {
    const made = await sql<{ id: string }>`
      insert into triggerers (tenant_id, place, dag_id, version_number)
      values (${tenantId}, ${place}, ${input.dagId}, ${input.versionNumber})
      on conflict (tenant_id, place) do nothing returning id`.execute(trx);
    // Locked: one that has nothing to do any more must not leave at this moment.
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

/** What the triggerer holds and what is still waited for. Plan: index triggers_held. */
export async function listHeldTriggers(db: SharedDb, ref: TriggererRef): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select t.id from triggers t
    where t.tenant_id = ${ref.tenantId} and t.triggerer_id = ${ref.triggererId} and t.fired_at is null and ${isLive}
    order by t.id`.execute(db);
  return rows.map(({ id }) => id);
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

/** The trigger, when this triggerer holds it and it is still waited for. */
export async function findHeldTrigger(
  db: SharedDb,
  ref: TriggererRef & { triggerId: number },
): Promise<TriggerRow | undefined> {
  const { rows } = await sql<TriggerRow>`
    select t.* from triggers t join triggerers r on r.tenant_id = t.tenant_id and r.id = t.triggerer_id
    where t.tenant_id = ${ref.tenantId} and t.id = ${ref.triggerId} and t.triggerer_id = ${ref.triggererId}
      and t.fired_at is null and ${isLive}`.execute(db);
  return rows[0];
}

export type TriggerEvent = { tenantId: string; triggerId: number; triggererId: string | null; event: string };

/**
 * Which of them count: not those that the triggerer does not hold any more, because another one does, or that have fired. Locked
 * in the order of their ids, as by who gives up a triggerer.
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

/** It has done what it was for. False when another one holds it. */
export async function deleteTrigger(db: SharedDb, ref: TriggererRef & { triggerId: number }): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from triggers where tenant_id = ${ref.tenantId} and id = ${ref.triggerId}
      and triggerer_id = ${ref.triggererId}`.execute(db);
  return numAffectedRows === 1n;
}

/** It has begun, here. False when it is given up. */
export async function startTriggerer(db: Database, ref: TriggererRef, hostname: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update triggerers set started_at = coalesce(started_at, clock_timestamp()), hostname = ${hostname},
      heartbeat_at = clock_timestamp()
    where tenant_id = ${ref.tenantId} and id = ${ref.triggererId}`.execute(db.shared);
  return numAffectedRows === 1n;
}

/** Renews the leases; those that are not answered with are given up. */
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
 * Gives the triggerer up: what it held is there for another. `hasFailed`: it ended by itself, and what it held may be why.
 * False when it was given up before.
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

/** True when it holds nothing that is waited for: then it is gone. */
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

/** Triggerers that were not heard of for that long. A handful of rows. */
export async function findSilentTriggerers(db: Database, leaseMs: number): Promise<TriggererRef[]> {
  const { rows } = await sql<TriggererRef>`
    select tenant_id as "tenantId", id as "triggererId" from triggerers
    where abs(extract(epoch from clock_timestamp() - heartbeat_at)) > ${leaseMs / 1_000}::float8`.execute(db.shared);
  return rows;
}

/** Triggers of tasks that wait for them no more, or whose try has ended. Plan: triggers, a row for each that is deferred. */
export async function deleteForgottenTriggers(db: Database): Promise<void> {
  await sql`
    delete from triggers t where t.kind = 'task' and not exists (
      select 1 from task_instances i
      where i.tenant_id = t.tenant_id and i.run = t.run and i.task_id = t.task_id and i.map_index = t.map_index
        and i.try_number = t.try_number and i.first_poke_at is not null
        and i.state in ('deferred', 'scheduled', 'queued', 'running', 'restarting'))`.execute(db.shared);
}
