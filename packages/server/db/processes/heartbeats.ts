import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { ExecutorFacts, Moment } from '../schema.ts';

export type Component = 'scheduler' | 'triggerer' | 'dag_processor';
/** `unixname`: the operating system user of the process. */
export type ProcessIdentity = { processId: string; hostname: string; version: string; unixname?: string };

/** `executor`: the executor with which a scheduler runs tasks. */
export async function beat(
  db: Database,
  process: ProcessIdentity & { executor?: ExecutorFacts },
  component: Component,
): Promise<void> {
  const executor = process.executor ? JSON.stringify(process.executor) : null;
  await db.shared
    .insertInto('heartbeats')
    .values({
      process_id: process.processId,
      component,
      hostname: process.hostname,
      version: process.version,
      unixname: process.unixname ?? null,
      executor: component === 'scheduler' ? executor : null,
    })
    .onConflict((conflict) =>
      conflict.columns(['process_id', 'component']).doUpdateSet({ last_seen_at: sql`now()`, stopped_at: null }),
    )
    .execute();
}

/** Returns the executor of the scheduler with the newest heartbeat. Undefined when no scheduler has reported one. */
export async function findExecutor(db: Database): Promise<ExecutorFacts | undefined> {
  const row = await db.shared
    .selectFrom('heartbeats')
    .select('executor')
    .where('component', '=', 'scheduler')
    .where('executor', 'is not', null)
    .orderBy(sql`stopped_at is null`, 'desc')
    .orderBy('last_seen_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.executor ?? undefined;
}

/** Records that a process stops, so that it does not seem to have died. */
export async function recordStop(db: Database, processId: string): Promise<void> {
  await db.shared
    .updateTable('heartbeats')
    .set({ stopped_at: sql<string>`clock_timestamp()` })
    .where('process_id', '=', processId)
    .execute();
}

/** Returns the newest heartbeat of each component in any process. Its age is measured by the database's clock. */
export async function latestBeats(
  db: Database,
): Promise<{ component: string; lastSeenAt: Moment; ageSeconds: number }[]> {
  const { rows } = await sql<{ component: string; lastSeenAt: Moment; ageSeconds: number }>`
    select component, max(last_seen_at) as "lastSeenAt", extract(epoch from now() - max(last_seen_at))::float8 as "ageSeconds"
    from heartbeats where stopped_at is null group by component`.execute(db.shared);
  return rows;
}

/** Counts schedulers with a heartbeat within this time that have not stopped. */
export async function countSchedulers(db: Database, { withinMs }: { withinMs: number }): Promise<number> {
  const { rows } = await sql<{ schedulers: number }>`
    select count(*)::int as schedulers from heartbeats
    where component = 'scheduler' and stopped_at is null
      and last_seen_at > now() - make_interval(secs => ${withinMs / 1_000})`.execute(db.shared);
  return rows[0]?.schedulers ?? 0;
}

/** Returns the ids of schedulers with a heartbeat within this time that have not stopped. */
export async function findLiveSchedulers(db: Database, { withinMs }: { withinMs: number }): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select process_id as id from heartbeats
    where component = 'scheduler' and stopped_at is null
      and last_seen_at > now() - make_interval(secs => ${withinMs / 1_000})`.execute(db.shared);
  return new Set(rows.map(({ id }) => id));
}

export async function deleteOldHeartbeats(db: Database): Promise<void> {
  await sql`delete from heartbeats where last_seen_at < now() - interval '7 days'`.execute(db.shared);
}
