/**
 * How many task instances match. Runs carry the numbers of their instances by state, so what filters look at most (the
 * run, the state) is added up from runs, one row instead of the dozens or thousands of its instances.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from './database.ts';
import { conditionsOnInstance, conditionsOnRun, isCountable, stateCondition } from './task-instance-filters.ts';
import type { InstanceFilter } from './task-instance-filters.ts';

/** Runs know their sum only, because these change without the run's lock. Few at any time, and indexed. */
const LIVE: readonly TaskState[] = ['scheduled', 'queued', 'running', 'restarting', 'deferred'];
const isLive = (state: TaskStateOrNone): boolean => state !== null && LIVE.includes(state);

export async function countInstances(db: TenantDb, filter: InstanceFilter): Promise<number> {
  if (!isCountable(filter)) return countRows(db, filter);
  const { states, ...ofTheRun } = filter;
  if (states === undefined || LIVE.every((state) => states.includes(state))) {
    return sumOverRuns(db, ofTheRun, states === undefined ? undefined : ['live', ...states.filter((s) => !isLive(s))]);
  }
  const live = states.filter(isLive);
  const settled = states.filter((state) => !isLive(state));
  const [rows, sum] = await Promise.all([
    live.length > 0 ? countLive(db, ofTheRun, live) : 0,
    settled.length > 0 ? sumOverRuns(db, ofTheRun, settled) : 0,
  ]);
  return rows + sum;
}

async function countRows(db: TenantDb, filter: InstanceFilter): Promise<number> {
  let query = db
    .selectFrom('task_instances as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select((eb) => eb.fn.countAll<number>().as('total'));
  for (const condition of [...conditionsOnRun(filter), ...conditionsOnInstance(filter)]) query = query.where(condition);
  return (await query.executeTakeFirstOrThrow()).total;
}

async function sumOverRuns(
  db: TenantDb,
  filter: InstanceFilter,
  states: readonly (TaskStateOrNone | 'live')[] | undefined,
): Promise<number> {
  const sum = sql<number>`coalesce(sum(${states === undefined ? ALL_OF_A_RUN : numbersOf(states)}), 0)::bigint`;
  let query = db.selectFrom('dag_runs as r').select(sum.as('total'));
  for (const condition of conditionsOnRun(filter)) query = query.where(condition);
  return (await query.executeTakeFirstOrThrow()).total;
}

const ALL_OF_A_RUN = sql`(select sum(n.value::int) from jsonb_each_text(r.state_counts) as n)`;

const numbersOf = (states: readonly (TaskStateOrNone | 'live')[]): RawBuilder<unknown> =>
  sql.join(
    states.map((state) => sql`coalesce((r.state_counts ->> ${sql.lit(state ?? 'none')})::int, 0)`),
    sql` + `,
  );

/** Each state is counted where it has an index: `scheduled` has two, by whether something beside its run holds it back. */
async function countLive(db: TenantDb, filter: InstanceFilter, states: readonly TaskStateOrNone[]): Promise<number> {
  const active = states.filter((state) => state !== 'scheduled');
  const parts: RawBuilder<boolean>[] = [
    ...(active.length > 0 ? [stateCondition(active)] : []),
    ...(states.includes('scheduled')
      ? [
          sql<boolean>`t.state = 'scheduled' and t.waits is null`,
          sql<boolean>`t.state = 'scheduled' and t.waits is not null`,
        ]
      : []),
  ];
  const counts = await Promise.all(
    parts.map((part) => {
      let query = db
        .selectFrom('task_instances as t')
        .innerJoin('dag_runs as r', 'r.id', 't.run')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where(part);
      for (const condition of conditionsOnRun(filter)) query = query.where(condition);
      return query.executeTakeFirstOrThrow();
    }),
  );
  return counts.reduce((sum, { total }) => sum + total, 0);
}
