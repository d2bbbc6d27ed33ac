/**
 * Counts matching task instances. Runs store the numbers of their instances by state, and sums over the finished runs
 * of each DAG are stored as well (migration 0006). The most usual filters, DAG and state, therefore cost a few rows,
 * whatever the history.
 */
import { sql } from 'kysely';
import { LIVE_STATES } from '@svc/spec/states.ts';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import type { CountedState } from '../schema.ts';
import {
  conditionsOnDag,
  conditionsOnInstance,
  conditionsOnRun,
  isCountable,
  isNamed,
  isOfDagsOnly,
  stateCondition,
} from './filters.ts';
import type { InstanceFilter } from './filters.ts';
import { OPEN_RUN } from '../state-sets.ts';

/**
 * Runs store only their sum, because these states change without the run's lock. They are few at any time, and indexed.
 */
const LIVE: readonly TaskState[] = LIVE_STATES;
const isLive = (state: TaskStateOrNone): boolean => state !== null && LIVE.includes(state);

/** The names of the columns with the sums. */
export const COUNTED: readonly CountedState[] = [
  'none',
  'live',
  'up_for_retry',
  'up_for_reschedule',
  'success',
  'failed',
  'upstream_failed',
  'skipped',
  'removed',
];
const countedAs = (state: TaskStateOrNone): CountedState => (state ?? 'none') as CountedState;

export async function countInstances(db: TenantDb, filter: InstanceFilter): Promise<number> {
  if (!isCountable(filter)) return countRows(db, filter);
  const { states, ...ofTheRun } = filter;
  if (states === undefined) return sumOfRuns(db, ofTheRun, COUNTED);
  const settled = states.filter((state) => !isLive(state)).map(countedAs);
  if (LIVE.every((state) => states.includes(state))) return sumOfRuns(db, ofTheRun, ['live', ...settled]);
  const live = states.filter(isLive);
  const [rows, sum] = await Promise.all([
    live.length > 0 ? countLive(db, ofTheRun, live) : 0,
    settled.length > 0 ? sumOfRuns(db, ofTheRun, settled) : 0,
  ]);
  return rows + sum;
}

const isSettled = (state: TaskStateOrNone): boolean => !isLive(state) && state !== 'success';
/** Finished runs have no instances in these states, unless a person cleared a task and left its run finished. */
const WAITING = new Set<TaskStateOrNone>([null, 'up_for_retry', 'up_for_reschedule']);

/**
 * Narrows the filter with the stored sums, so that a page of rare instances does not search all the others. Returns
 * null when there are none.
 */
export async function narrowed(db: TenantDb, filter: InstanceFilter): Promise<InstanceFilter | null> {
  const { states } = filter;
  if (states?.length === 0) return null;
  if (filter.run !== undefined) return filter;
  if (filter.displayNames && !(await hasTaskNamed(db, filter.displayNames, filter.dagIds))) return null;
  if (!states?.every(isSettled)) return filter;
  const ofDags = { ...(filter.dagIds && { dagIds: filter.dagIds }) };
  if (states.every((state) => WAITING.has(state))) {
    const { total } = await finishedRuns(db, ofDags, states.map(countedAs)).executeTakeFirstOrThrow();
    return total === 0 ? { ...filter, isRunUnfinished: true } : filter;
  }
  if ((await countInstances(db, { ...ofDags, states })) === 0) return null;
  // With a range of runs, a search through the runs is faster.
  const isOfRuns = [filter.runAfter, filter.logicalDate, filter.runIds, filter.runIdPatterns?.[0]].some(Boolean);
  return isOfRuns ? filter : { ...filter, isDagOfInstance: true };
}

/**
 * Returns whether any task that ever ran has such a name, because people often type one that does not exist. It goes
 * from task to task along task_instances_of_task, up to the first match, instead of reading all instances.
 */
async function hasTaskNamed(
  db: TenantDb,
  names: NonNullable<InstanceFilter['displayNames']>,
  dagIds: readonly string[] | undefined,
): Promise<boolean> {
  const [onlyDag] = dagIds?.length === 1 ? dagIds : [];
  const found = await db
    .withRecursive('tasks_seen(dag_id, task_id)', (seen) => {
      const tasks = seen
        .selectFrom('task_instances as i')
        .select(['i.dag_id', 'i.task_id'])
        .orderBy('i.dag_id')
        .orderBy('i.task_id')
        .limit(1)
        .$if(onlyDag !== undefined, (query) => query.where('i.dag_id', '=', onlyDag ?? ''));
      // Within one DAG it compares only the tasks. With pairs, Postgres would read from the DAG's first task each time.
      const isBehind =
        onlyDag === undefined ? sql`(i.dag_id, i.task_id) > (s.dag_id, s.task_id)` : sql`i.task_id > s.task_id`;
      const following = tasks.where(sql<boolean>`${isBehind}`);
      return seen
        .selectFrom(tasks.as('first'))
        .select(['first.dag_id', 'first.task_id'])
        .unionAll(
          seen
            .selectFrom('tasks_seen as s')
            .innerJoinLateral(following.as('next'), (join) => join.onTrue())
            .select(['next.dag_id', 'next.task_id']),
        );
    })
    .selectFrom('tasks_seen as t')
    .select('t.task_id')
    .where(isNamed(names))
    .$if(dagIds !== undefined, (query) => query.where(sql<boolean>`t.dag_id = any(${[...(dagIds ?? [])]}::text[])`))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Returns whether a person cleared a task and left its run finished. Otherwise unfinished instances are in unfinished
 * runs.
 */
export async function hasWaitingInFinishedRuns(db: TenantDb): Promise<boolean> {
  const unfinished: CountedState[] = ['none', 'live', 'up_for_retry', 'up_for_reschedule'];
  return (await finishedRuns(db, {}, unfinished).executeTakeFirstOrThrow()).total !== 0;
}

const finishedRuns = (db: TenantDb, filter: InstanceFilter, states: readonly CountedState[]) => {
  const number = sql.join(
    states.map((state) => sql.ref(`f.${state}`)),
    sql` + `,
  );
  let query = db
    .selectFrom('instances_of_finished_runs as f')
    .select(sql<number>`coalesce(sum(${number}), 0)::bigint`.as('total'));
  for (const condition of conditionsOnDag('f', filter)) query = query.where(condition);
  return query;
};

async function countRows(db: TenantDb, filter: InstanceFilter): Promise<number> {
  let query = db
    .selectFrom('task_instances as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select((eb) => eb.fn.countAll<number>().as('total'));
  for (const condition of [...conditionsOnRun(filter), ...conditionsOnInstance(filter)]) query = query.where(condition);
  return (await query.executeTakeFirstOrThrow()).total;
}

/** One statement, so that a run that ends at the same time is counted once. */
async function sumOfRuns(db: TenantDb, filter: InstanceFilter, states: readonly CountedState[]): Promise<number> {
  const numbers = sql.join(
    states.map((state) => sql`coalesce((r.state_counts ->> ${sql.lit(state)})::int, 0)`),
    sql` + `,
  );
  let runs = db.selectFrom('dag_runs as r').select(sql<number>`coalesce(sum(${numbers}), 0)::bigint`.as('total'));
  for (const condition of conditionsOnRun(filter)) runs = runs.where(condition);
  if (!isOfDagsOnly(filter)) return (await runs.executeTakeFirstOrThrow()).total;
  const unfinished = runs.where(sql<boolean>`r.state in ${OPEN_RUN.raw}`);
  const { total } = await db
    .selectNoFrom(sql<number>`(${unfinished}) + (${finishedRuns(db, filter, states)})`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

async function countLive(db: TenantDb, filter: InstanceFilter, states: readonly TaskStateOrNone[]): Promise<number> {
  let query = db
    .selectFrom('task_instances as t')
    .innerJoin('dag_runs as r', 'r.id', 't.run')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(stateCondition(states));
  for (const condition of conditionsOnRun(filter)) query = query.where(condition);
  return (await query.executeTakeFirstOrThrow()).total;
}
