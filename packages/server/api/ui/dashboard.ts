/** The figures of the home page. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { RUN_STATES, TASK_STATES } from '@svc/spec/states.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import { DateTime } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

/** Counting stops here: the UI shows "1000+". */
const COUNT_LIMIT = 1_000;

export function registerUiDashboard(app: App, { db }: Services): void {
  app.get(
    '/ui/dashboard/dag_stats',
    {
      config: { access: 'read:dag' },
      schema: {
        operationId: 'dag_stats',
        tags: ['UI'],
        summary: 'How many DAGs are active, and whose newest run has failed, runs or waits',
        response: {
          200: Type.Object({
            active_dag_count: Type.Integer(),
            failed_dag_count: Type.Integer(),
            running_dag_count: Type.Integer(),
            queued_dag_count: Type.Integer(),
          }),
        },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      // Plan: per DAG one row of dag_runs_by_logical_date.
      const { rows } = await sql<{ active: number; failed: number; running: number; queued: number }>`
        select count(*) filter (where not d.is_paused) as active, count(*) filter (where r.state = 'failed') as failed,
          count(*) filter (where r.state = 'running') as running, count(*) filter (where r.state = 'queued') as queued
        from dags d left join lateral (
          select n.state from dag_runs n
          where n.tenant_id = d.tenant_id and n.dag_id = d.dag_id and n.logical_date is not null
          order by n.logical_date desc limit 1
        ) as r on true
        where d.tenant_id = ${tenantId} and not d.is_stale`.execute(databaseOf(request, db));
      const [counted] = rows;
      return {
        active_dag_count: counted?.active ?? 0,
        failed_dag_count: counted?.failed ?? 0,
        running_dag_count: counted?.running ?? 0,
        queued_dag_count: counted?.queued ?? 0,
      };
    },
  );

  app.get(
    '/ui/dashboard/historical_metrics_data',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'historical_metrics',
        tags: ['UI'],
        summary: 'Runs and task instances by state within a time',
        querystring: Type.Object({ start_date: DateTime, end_date: Type.Optional(DateTime) }),
        response: {
          200: Type.Object({
            dag_run_states: Type.Record(Type.String(), Type.Integer()),
            task_instance_states: Type.Record(Type.String(), Type.Integer()),
            state_count_limit: Type.Integer(),
          }),
        },
      },
    },
    async (request) => {
      const { tenantId } = principalOf(request);
      const { start_date: from, end_date: until } = request.query;
      const scope = databaseOf(request, db);
      const period = { tenantId, from, until };
      return { ...(await countStates(scope, period)), state_count_limit: COUNT_LIMIT };
    },
  );
}

type Period = { tenantId: string; from: string; until: string | undefined };

/**
 * Runs of a time, as conditions that an index can follow: what has not started or ended would do so now.
 * Plan: dag_runs_by_start for those that have started, dag_runs_live for those that have not.
 */
const startedWithin = (period: Period) => sql`r.start_date >= ${period.from} and ${endsWithin(period)}`;
const waitsWithin = (period: Period) => sql`
  r.start_date is null and r.state in ('queued', 'running') and now() >= ${period.from} and ${endsWithin(period)}`;
/** Without an end, up to now: the clock of the database is the one that counts. */
const endsWithin = ({ until }: Period) =>
  until === undefined ? sql`true` : sql`(r.end_date <= ${until} or (r.end_date is null and now() <= ${until}))`;

const capped = (count: number): number => Math.min(count, COUNT_LIMIT);

/** States that runs count their instances by; those in flight they count together. */
const KEPT = TASK_STATES.filter(
  (state) => !['scheduled', 'queued', 'running', 'restarting', 'deferred'].includes(state),
);

/**
 * Runs, and their instances from the counts that runs keep of them, in one pass over the runs of the time; only what is in
 * flight is counted itself, and that is little.
 */
async function countStates(scope: ReturnType<typeof databaseOf>, period: Period) {
  const { tenantId, from } = period;
  const names = ['none', ...KEPT];
  const sums = names.map(
    (name) => sql`coalesce(sum((r.state_counts ->> ${sql.lit(name)})::int), 0)::bigint as ${sql.ref(name)}`,
  );
  const [byRunState, live] = await Promise.all([
    sql<Record<string, number> & { run_state: string; runs: number }>`
      select r.state as run_state, count(*) as runs, ${sql.join(sums)} from dag_runs r
      where r.tenant_id = ${tenantId} and ((${startedWithin(period)}) or (${waitsWithin(period)}))
      group by r.state`.execute(scope),
    sql<{ state: string; count: number }>`
      select t.state, count(*) as count from task_instances t
      join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run
      where t.tenant_id = ${tenantId} and coalesce(r.start_date, now()) >= ${from} and ${endsWithin(period)}
        and (t.state in ('queued', 'running', 'restarting', 'deferred')
          or (t.state = 'scheduled' and t.waits is null) or (t.state = 'scheduled' and t.waits is not null))
      group by t.state`.execute(scope),
  ]);
  const sumOf = (name: string): number => byRunState.rows.reduce((sum, row) => sum + (row[name] ?? 0), 0);
  const liveOf = (name: string): number => live.rows.find(({ state }) => state === name)?.count ?? 0;
  const runsOf = (state: string): number => byRunState.rows.find((row) => row.run_state === state)?.runs ?? 0;
  return {
    dag_run_states: Object.fromEntries(RUN_STATES.map((state) => [state, capped(runsOf(state))])),
    task_instance_states: Object.fromEntries([
      ['no_status', capped(sumOf('none'))],
      ...TASK_STATES.map((state) => [state, capped(KEPT.includes(state) ? sumOf(state) : liveOf(state))]),
    ]) as Record<string, number>,
  };
}
