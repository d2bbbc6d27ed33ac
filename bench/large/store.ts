/**
 * Stores tens of millions of finished task instances directly in the tables. Indexes are created afterwards, and
 * counters of rows are computed at the end.
 */
import pg from 'pg';

export const DAGS = 500;
export const TASKS = 30;
const RUNS_PER_STATEMENT = 10_000;
const TABLES = ['dag_runs', 'task_instances'];
/** The interval between runs. The last run is now. */
const EVERY = `interval '1 minute'`;

/** `registered` DAGs exist, and the others become copies of them. */
export async function storeInstances(
  url: string,
  input: { instances: number; registered: number; say: (text: string) => void },
): Promise<{ runs: number }> {
  const { instances, registered, say } = input;
  const runs = Math.ceil(instances / TASKS / DAGS) * DAGS;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set synchronous_commit = off`);
    await client.query(`set maintenance_work_mem = '1GB'`);
    await client.query(`set session_replication_role = replica`);
    await client.query(COPY_DAGS, [registered, DAGS - 1]);
    await client.query(COPY_VERSIONS, [registered, DAGS - 1]);
    for (const table of TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
    const indexes = (await client.query<{ name: string; definition: string }>(INDEXES, [TABLES])).rows;
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    for (let first = 0; first < runs; first += RUNS_PER_STATEMENT) {
      const last = Math.min(first + RUNS_PER_STATEMENT, runs) - 1;
      await client.query(INSERT_RUNS, [first, last, runs]);
      await client.query(INSERT_INSTANCES, [first, last]);
      if (first % (RUNS_PER_STATEMENT * 10) === 0) say(`${first * TASKS} of ${runs * TASKS} task instances`);
    }
    await client.query(ADD_UP);
    for (const { name, definition } of indexes) {
      say(`index ${name}`);
      await client.query(definition);
    }
    for (const table of TABLES) await client.query(`alter table ${table} reset (autovacuum_enabled)`);
    say('vacuum');
    for (const table of TABLES) await client.query(`vacuum (analyze) ${table}`);
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
  return { runs };
}

const ID = `'history_' || case when k < 10 then '0' else '' end || k`;

const INDEXES = `
  select i.relname as name, pg_get_indexdef(i.oid) as definition
  from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
  where t.relname = any($1::text[]) and not exists (select from pg_constraint c where c.conindid = i.oid)`;

const COPY_DAGS = `
  insert into dags select (jsonb_populate_record(p, jsonb_build_object('dag_id', ${ID}, 'display_name', ${ID}))).*
  from dags p, generate_series($1::int, $2::int) as k where p.dag_id = 'history_00'`;

const COPY_VERSIONS = `
  insert into dag_versions (tenant_id, dag_id, version_number, content_hash, spec, source, bundle_name)
  select v.tenant_id, ${ID}, 1, v.content_hash, replace(v.spec, 'history_00', ${ID}), v.source, v.bundle_name
  from dag_versions v, generate_series($1::int, $2::int) as k where v.dag_id = 'history_00'`;

const INSERT_RUNS = `
  insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
    run_after, queued_at, start_date, end_date, triggered_by, version_number, state_counts)
  select t.id, ${ID}, 'history_' || n, 'scheduled', case when n % 20 = 3 then 'failed' else 'success' end,
    m.at, m.at, m.at, m.at, m.at, m.at, m.at + interval '5 minutes', 'timetable', 1,
    case when n % 20 = 3 then '{"success": ${TASKS - 1}, "failed": 1}' else '{"success": ${TASKS}}' end::jsonb
  from tenants t, generate_series($1::int, $2::int) as n, lateral (select n % ${DAGS} as k) as d,
    lateral (select date_trunc('hour', now()) - ($3::int - n) * ${EVERY} as at) as m`;

const INSERT_INSTANCES = `
  insert into task_instances (tenant_id, run, task_id, map_index, id, dag_id, state, try_number, max_tries, attempt_id, operator,
    pool, pool_slots, priority_weight, queue, upstream, scheduled_at, queued_at, start_date, end_date, hostname, version_number)
  select r.tenant_id, r.id, 't' || lpad(k::text, 2, '0'), -1, gen_random_uuid(), r.dag_id,
    case when r.state = 'failed' and k = 7 then 'failed' else 'success' end,
    1, 0, gen_random_uuid(), 'BashOperator', 'default_pool', 1, 1, 'default', '0', r.start_date, r.start_date,
    r.start_date + k * interval '1 second', r.start_date + (k + 1) * interval '1 second', 'worker', 1
  from dag_runs r, generate_series(0, ${TASKS - 1}) as k
  where r.tenant_id = (select id from tenants) and (r.dag_id, r.run_id) in (
    select ${ID}, 'history_' || n from generate_series($1::int, $2::int) as n, lateral (select n % ${DAGS} as k) as d)`;

const ADD_UP = `
  insert into instances_of_finished_runs (tenant_id, dag_id, none, live, up_for_retry, up_for_reschedule, success, failed,
    upstream_failed, skipped, removed, runs_success, runs_failed)
  select tenant_id, dag_id, 0, 0, 0, 0, sum((state_counts::jsonb ->> 'success')::int),
    coalesce(sum((state_counts::jsonb ->> 'failed')::int), 0), 0, 0, 0,
    count(*) filter (where state = 'success'), count(*) filter (where state = 'failed')
  from dag_runs group by tenant_id, dag_id`;
