/** The figures of the home page of the web UI. */
import { sql } from 'kysely';
import { LIVE_STATES, RUN_STATES, TASK_STATES } from '@svc/spec/states.ts';
import type { RunState, TaskState } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import { ACTIVE, OPEN_RUN } from '../state-sets.ts';

export type DagCounts = { active: number; failed: number; running: number; queued: number };

/**
 * Counts DAGs that are not paused, and DAGs by the state of their newest run. Query plan: per DAG one row of
 * dag_runs_by_logical_date.
 */
export async function countDagsByNewestRun(db: TenantDb, tenantId: string): Promise<DagCounts> {
  const { rows } = await sql<DagCounts>`
    select count(*) filter (where not d.is_paused) as active, count(*) filter (where r.state = 'failed') as failed,
      count(*) filter (where r.state = 'running') as running, count(*) filter (where r.state = 'queued') as queued
    from dags d left join lateral (
      select n.state from dag_runs n
      where n.tenant_id = d.tenant_id and n.dag_id = d.dag_id and n.logical_date is not null
      order by n.logical_date desc limit 1
    ) as r on true
    where d.tenant_id = ${tenantId} and not d.is_stale`.execute(db);
  return rows[0] ?? { active: 0, failed: 0, running: 0, queued: 0 };
}

export type Period = { tenantId: string; from: string; until: string | undefined };

/**
 * The runs of a period, as conditions that an index can use. A run that has not started or ended counts as if it did so
 * now. Query plan: dag_runs_by_start for started runs, dag_runs_live for others.
 */
const startedWithin = (period: Period) => sql`r.start_date >= ${period.from} and ${endsWithin(period)}`;
const waitsWithin = (period: Period) => sql`
  r.start_date is null and r.state in ${OPEN_RUN.raw} and now() >= ${period.from} and ${endsWithin(period)}`;
/** Without an end, the period lasts until now, by the clock of the database. */
const endsWithin = ({ until }: Period) =>
  until === undefined ? sql`true` : sql`(r.end_date <= ${until} or (r.end_date is null and now() <= ${until}))`;

/** Runs count their instances by state, but those in flight together. */
const IN_FLIGHT = new Set<TaskState>(LIVE_STATES);

export type StateCounts = {
  runs: [RunState, number][];
  /** Task instances; `none` are those without a state. */
  instances: [TaskState | 'none', number][];
};

/**
 * Counts runs, and their instances from the counts that runs store, in one pass over the runs of the period. Only
 * instances in flight are counted themselves, and they are few. Many runs have equal counts, so the query groups runs
 * by the hash of their counts.
 */
export async function countStates(db: TenantDb, period: Period): Promise<StateCounts> {
  const { tenantId, from } = period;
  const [alike, live] = await Promise.all([
    sql<{ state: RunState; counts: Record<string, number>; runs: number }>`
      select a.state, one.state_counts as counts, a.runs from (
        select r.state, max(r.id) as id, count(*) as runs from dag_runs r
        where r.tenant_id = ${tenantId} and ((${startedWithin(period)}) or (${waitsWithin(period)}))
        group by r.state, jsonb_hash_extended(r.state_counts, 0)
      ) as a join dag_runs one on one.tenant_id = ${tenantId} and one.id = a.id`.execute(db),
    sql<{ state: string; count: number }>`
      select t.state, count(*) as count from task_instances t
      join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run
      where t.tenant_id = ${tenantId} and coalesce(r.start_date, now()) >= ${from} and ${endsWithin(period)}
        and (t.state in ${ACTIVE.raw}
          or (t.state = 'scheduled' and t.waits is null) or (t.state = 'scheduled' and t.waits is not null))
      group by t.state`.execute(db),
  ]);
  const sumOf = (name: string): number =>
    alike.rows.reduce((sum, { counts, runs }) => sum + (counts[name] ?? 0) * runs, 0);
  const liveOf = (name: string): number => live.rows.find(({ state }) => state === name)?.count ?? 0;
  const runsOf = (name: RunState): number =>
    alike.rows.reduce((sum, { state, runs }) => sum + (state === name ? runs : 0), 0);
  return {
    runs: RUN_STATES.map((state) => [state, runsOf(state)]),
    instances: [
      ['none', sumOf('none')],
      ...TASK_STATES.map((state): [TaskState, number] => [state, IN_FLIGHT.has(state) ? liveOf(state) : sumOf(state)]),
    ],
  };
}
