/** The figures of the home page. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { RUN_STATES, TASK_STATES } from '@svc/spec/states.ts';
import { databaseOf, principalOf } from '../access.ts';
import { DateTime } from '../schemas.ts';
import type { App, Services } from '../services.ts';

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
      const { start_date: from, end_date: to } = request.query;
      const until = to ?? new Date().toISOString();
      const scope = databaseOf(request, db);
      const runs = await Promise.all(
        RUN_STATES.map(async (state) => {
          const { rows } = await sql<{ count: number }>`
            select count(*) as count from (
              select 1 from dag_runs where tenant_id = ${tenantId} and state = ${state}
                and coalesce(start_date, now()) >= ${from} and coalesce(end_date, now()) <= ${until}
                and run_after >= ${from}::timestamptz - interval '30 days'
              limit ${COUNT_LIMIT}) as c`.execute(scope);
          return [state, rows[0]?.count ?? 0] as const;
        }),
      );
      return {
        dag_run_states: Object.fromEntries(runs),
        task_instance_states: await instanceStates(scope, { tenantId, from, until }),
        state_count_limit: COUNT_LIMIT,
      };
    },
  );
}

/** From the counts that runs keep of their instances; only what is in flight is counted itself, and that is little. */
async function instanceStates(
  scope: ReturnType<typeof databaseOf>,
  { tenantId, from, until }: { tenantId: string; from: string; until: string },
): Promise<Record<string, number>> {
  const kept = await sql<{ state: string; count: number }>`
    select c.key as state, sum(c.value::int)::bigint as count
    from dag_runs r cross join lateral jsonb_each_text(r.state_counts) as c
    where r.tenant_id = ${tenantId} and coalesce(r.start_date, now()) >= ${from} and coalesce(r.end_date, now()) <= ${until}
      and r.run_after >= ${from}::timestamptz - interval '30 days'
    group by c.key`.execute(scope);
  const live = await sql<{ state: string; count: number }>`
    select t.state, count(*) as count from task_instances t
    join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run
    where t.tenant_id = ${tenantId} and coalesce(r.start_date, now()) >= ${from}
      and (t.state in ('queued', 'running', 'restarting', 'deferred') or (t.state = 'scheduled' and (t.claimable or t.waits is null)))
    group by t.state`.execute(scope);
  const counts: Record<string, number> = {
    no_status: 0,
    ...Object.fromEntries(TASK_STATES.map((state) => [state, 0])),
  };
  for (const { state, count } of kept.rows) {
    if (state !== 'live') counts[state === 'none' ? 'no_status' : state] = Math.min(count, COUNT_LIMIT);
  }
  for (const { state, count } of live.rows) counts[state] = Math.min(count, COUNT_LIMIT);
  return counts;
}
