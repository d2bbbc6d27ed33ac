/**
 * Stores the rows of a control plane after a year directly in the tables: 5,000 DAGs, 200,000 runs, 2,000,000 task
 * instances. Each kind of DAG is registered once and copied, so every copy has a spec that the pages can open.
 */
import pg from 'pg';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database, TenantDb } from '@svc/server/db/database.ts';
import { addUpFinishedRuns } from '@svc/server/db/task-instances/add-up-finished-runs.ts';
import { DEFAULT_TENANT, findTenantByName } from '@svc/server/db/identity/tenants.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';

export type Stored = { dags: number; runs: number; instances: number };
export const STORED: Stored = { dags: 5_000, runs: 200_000, instances: 2_000_000 };
/** One DAG with a long history, and one with many tasks. */
export const LONG = { dagId: 'long_history', runs: 1_000 } as const;
export const WIDE = { dagId: 'many_tasks', runs: 30, tasks: 1_000 } as const;
/** An ordinary DAG from the middle of the list. */
export const PLAIN = 'dag_2503';

const TASKS = 10;
const EVENTS = 200_000;
const ASSETS = 1_000;
const ASSET_EVENTS = 100_000;
const IMPORT_ERRORS = 200;

const plainId = (n: number): string => `t${String(n).padStart(2, '0')}`;
const wideId = (n: number): string => `t${String(n).padStart(4, '0')}`;

export async function storeHistory(url: string, say: (message: string) => void, stored = STORED): Promise<void> {
  const copies = stored.dags - 2;
  // Every copy ran once a day.
  const days = Math.ceil((stored.runs - LONG.runs - WIDE.runs) / copies);
  await registerKinds(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // The rows need not survive a crash, and the scheduler of the server is off.
    await client.query(`set synchronous_commit = off`);
    await client.query(COPY_DAGS, [copies]);
    await client.query(`update dags set is_stale = true where dag_id = 'dag_0000'`);
    await client.query(COPY_VERSIONS, [copies]);
    const indexes = await withoutIndexes(client);
    for (const { dagId, runs, tasks, width } of [
      { ...LONG, tasks: TASKS, width: 2 },
      { ...WIDE, width: 4 },
    ]) {
      await client.query(RUNS_OF_ONE, [dagId, runs, tasks]);
      await client.query(INSTANCES_OF_ONE, [dagId, tasks, width]);
    }
    for (let day = days - 1; day >= 0; day -= 1) {
      await client.query(RUNS_OF_A_DAY, [copies, day, TASKS]);
      await withoutChecks(client, () => client.query(INSTANCES_OF_A_DAY, [day, TASKS]));
      if (day % 10 === 0) say(`${day} days to go`);
    }
    for (const index of indexes) await client.query(index);
    await client.query(AUDIT, [EVENTS, copies]);
    await client.query(STORED_ASSETS, [ASSETS]);
    await client.query(ASSET_REFERENCES, [copies]);
    await client.query(ASSET_HISTORY, [ASSET_EVENTS, ASSETS, copies]);
    await client.query(BROKEN_FILES, [IMPORT_ERRORS]);
    await addUp(url);
    // Autovacuum would do this later. Without it, counting reads the tables instead of their indexes.
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}

/**
 * Drops indexes that only speed up reads, because updating them row by row takes several times as long. Returns the
 * statements that create them again.
 */
async function withoutIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = 'task_instances'::regclass and not indisunique`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** References are correct by construction, and checking each of them doubles the time. */
async function withoutChecks(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  await client.query('set session_replication_role = replica');
  await work();
  await client.query('set session_replication_role = origin');
}

const open = (url: string): Database =>
  openDatabase({
    url,
    maxOpenConns: 2,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });

/** Does the periodic work of a scheduler, because none runs here. */
async function addUp(url: string): Promise<void> {
  const db = open(url);
  while ((await addUpFinishedRuns(db)) > 0);
  await db.close();
}

async function registerKinds(url: string): Promise<void> {
  const db = open(url);
  const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
  if (!tenant) throw new Error('the server has made no tenant');
  const scope = db.tenant(tenant.id);
  await register(scope, chains({ dagId: 'dag_0000', tasks: TASKS, length: 5, idOf: plainId }));
  await register(scope, chains({ dagId: LONG.dagId, tasks: TASKS, length: 5, idOf: plainId }));
  await register(scope, chains({ dagId: WIDE.dagId, tasks: WIDE.tasks, length: 10, idOf: wideId }));
  await db.close();
}

/** Builds parallel chains of tasks. */
function chains(input: { dagId: string; tasks: number; length: number; idOf(n: number): string }): CompiledSpec {
  const { dagId, tasks, length, idOf } = input;
  const isFirst = (n: number): boolean => n % length === 0;
  return makeSpec({
    dagId,
    schedule: { type: 'cron_trigger', expression: '0 0 * * *', timezone: 'UTC' },
    dag: { tags: ['bench'] },
    tasks: Array.from({ length: tasks }, (_, n) =>
      makeTask(idOf(n), {
        upstream: isFirst(n) ? [] : [idOf(n - 1)],
        downstream: isFirst(n + 1) || n + 1 === tasks ? [] : [idOf(n + 1)],
      }),
    ),
  });
}

async function register(scope: TenantDb, spec: CompiledSpec): Promise<void> {
  const actor = { name: 'bench', clientIp: '127.0.0.1', requestId: 'bench' };
  const registration = await registerVersion(scope, { dagId: spec.dag.dag_id, artifact: { spec }, actor });
  if (registration.kind === 'refused') throw new Error(registration.problems.join('\n'));
}

const ID = `'dag_' || lpad(n::text, 4, '0')`;

/** A fifth of the copies are paused, and a tenth wait for an asset. */
const COPY_DAGS = `
  insert into dags select (jsonb_populate_record(p, jsonb_build_object('dag_id', ${ID}, 'display_name', ${ID},
      'is_stale', false, 'is_paused', n % 5 = 0, 'relative_fileloc', 'file_' || n || '.py', 'fileloc', '/dags/file_' || n || '.py',
      'tags', array['bench', 'team_' || n % 40, 'kind_' || n % 7], 'owners', array['owner_' || n % 25],
      'description', 'What the number ' || n || ' is for',
      'next_dagrun_run_after', case when n % 10 = 3 then null else date_trunc('day', now()) + interval '1 day' end)
    || case when n % 10 = 3 then jsonb_build_object('timetable_summary', 'Asset', 'timetable', jsonb_build_object('type', 'asset',
        'assets', jsonb_build_object('type', 'asset', 'name', 'asset_' || n % 1000, 'uri', 's3://bucket/asset_' || n % 1000)))
      else '{}' end)).*
  from dags p, generate_series(1, $1::int) as n where p.dag_id = 'dag_0000'`;

const COPY_VERSIONS = `
  insert into dag_versions (tenant_id, dag_id, version_number, content_hash, spec, source, bundle_name)
  select v.tenant_id, ${ID}, 1, 'bench', replace(v.spec, 'dag_0000', ${ID}), v.source, v.bundle_name
  from dag_versions v, generate_series(1, $1::int) as n where v.dag_id = 'dag_0000'`;

/** Stores one run per copy. Today's runs are active in every tenth DAG, and one run in fifty has failed. */
const RUNS_OF_A_DAY = `
  insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
    run_after, queued_at, start_date, end_date, triggered_by, version_number, state_counts)
  select t.id, ${ID}, 'day_' || $2::int, case when (n + k) % 20 = 0 then 'manual' else 'scheduled' end, s.state, m.at, m.at, m.at, m.at, m.at, m.at,
    case when s.state = 'running' then null else m.at + interval '5 minutes' end, 'timetable', 1,
    case s.state when 'running' then jsonb_build_object('success', 3, 'live', 2, 'none', $3::int - 5)
      when 'failed' then jsonb_build_object('failed', 1, 'upstream_failed', 1, 'skipped', 1, 'success', $3::int - 3)
      else jsonb_build_object('success', $3::int) end
  from tenants t, (select $2::int as k) as day, generate_series($1::int, 1, -1) as n,
    lateral (select date_trunc('second', now()) - k * interval '1 day' - n * interval '15 seconds' as at) as m,
    lateral (select case when k = 0 and n % 10 = 1 then 'running' when (n * 7 + k) % 50 = 0 then 'failed' else 'success' end as state) as s`;

const INSTANCE_COLUMNS = `tenant_id, run, task_id, map_index, dag_id, state, try_number, max_tries, attempt_id, operator,
    pool, pool_slots, priority_weight, queue, upstream, scheduled_at, queued_at, start_date, end_date, updated_at, hostname, version_number,
    rendered_map_index`;

/** Most instances have equal sort values, some differ, and a few are rare. An order by value must work for all. */
const instancesOf = (taskId: string): string => `
  insert into task_instances (${INSTANCE_COLUMNS})
  select r.tenant_id, r.id, ${taskId}, x.map_index, r.dag_id, s.state,
    case when r.id % 97 = 0 and k = 2 then 2 else 1 end, case when k % 3 = 0 then 2 else 0 end, gen_random_uuid(),
    (array['BashOperator', 'PythonOperator', '@task', 'EmptyOperator'])[1 + k % 4],
    case when k = 3 then 'pool_' || r.id % 20 when r.id % 4001 = 0 then 'rare_pool' else 'default_pool' end,
    case when r.id % 1009 = 0 then 2 else 1 end, 10 - k % 10,
    case when r.id % 503 = 0 then 'heavy' else 'default' end, '0',
    r.start_date + k * interval '1 second' - interval '20 milliseconds', r.start_date + k * interval '1 second' - interval '10 milliseconds',
    case when s.state is null then null else r.start_date + k * interval '1 second' end,
    case when s.state is null or s.state in ('running', 'queued') then null else r.start_date + (k + 1) * interval '1 second' + (r.id % 700) * interval '1 millisecond' end,
    r.start_date + (k + 1) * interval '1 second', 'worker-' || r.id % 200, 1,
    case when x.map_index >= 0 and r.id % 1013 = 0 then 'file ' || r.id end`;

const WITH_MAP_INDEX = `lateral (select case when r.id % 50 = 0 and k = 6 then (r.id % 7)::int else -1 end as map_index) as x`;

const INSTANCES_OF_A_DAY = `
  ${instancesOf(`'t' || lpad(k::text, 2, '0')`)}
  from dag_runs r, generate_series(0, $2::int - 1) as k, ${WITH_MAP_INDEX}, lateral (select case
    when r.state = 'running' then (case when k < 3 then 'success' when k = 3 then 'running' when k = 4 then 'queued' end)
    when r.state = 'failed' and k = 7 then 'failed' when r.state = 'failed' and k = 8 then 'upstream_failed'
    when r.state = 'failed' and k = 9 then 'skipped' else 'success' end as state) as s
  where r.run_id = 'day_' || $1::int`;

const RUNS_OF_ONE = `
  insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end,
    run_after, queued_at, start_date, end_date, triggered_by, version_number, state_counts)
  select t.id, $1::text, 'run_' || lpad(k::text, 5, '0'), 'scheduled', 'success', m.at, m.at, m.at, m.at, m.at, m.at,
    m.at + interval '5 minutes', 'timetable', 1, jsonb_build_object('success', $3::int)
  from tenants t, generate_series(1, $2::int) as k,
    lateral (select date_trunc('second', now()) - ($2::int - k) * interval '8 hours' as at) as m`;

const INSTANCES_OF_ONE = `
  ${instancesOf(`'t' || lpad(k::text, $3::int, '0')`)}
  from dag_runs r, generate_series(0, $2::int - 1) as k, ${WITH_MAP_INDEX}, lateral (select 'success' as state) as s where r.dag_id = $1`;

const AUDIT = `
  insert into audit_log (tenant_id, at, event, actor, client_ip, request_id, object_kind, object_id, dag_id)
  select t.id, now() - ($1::int - n) * interval '1 minute', case when n % 3 = 0 then 'patch_dag' else 'trigger_dag_run' end,
    'user_' || n % 50, '127.0.0.1', 'bench', 'dag', 'dag_' || lpad((n % $2::int + 1)::text, 4, '0'), 'dag_' || lpad((n % $2::int + 1)::text, 4, '0')
  from tenants t, generate_series(1, $1::int) as n`;

const STORED_ASSETS = `
  insert into assets (tenant_id, name, uri, group_name)
  select t.id, 'asset_' || n, 's3://bucket/asset_' || n, 'asset' from tenants t, generate_series(0, $1::int - 1) as n`;

const ASSET_REFERENCES = `
  insert into asset_references (tenant_id, dag_id, role, task_id, target, target_id)
  select a.tenant_id, 'dag_' || lpad(n::text, 4, '0'), case when n % 10 = 3 then 'schedule' else 'outlet' end,
    case when n % 10 = 3 then '' else 't00' end, 'asset', a.id
  from generate_series(1, $1::int) as n join assets a on a.name = 'asset_' || n % 1000`;

const ASSET_HISTORY = `
  insert into asset_events (tenant_id, asset_id, source_dag_id, source_task_id, source_run_id, at)
  select a.tenant_id, a.id, 'dag_' || lpad((n % $3::int + 1)::text, 4, '0'), 't00', 'run', now() - ($1::int - n) * interval '30 seconds'
  from generate_series(1, $1::int) as n join assets a on a.name = 'asset_' || n % $2::int`;

const BROKEN_FILES = `
  insert into import_errors (tenant_id, bundle_name, filename, stack_trace)
  select t.id, 'dags', 'file_' || n * 3 || '.py', repeat('Traceback of the file ' || n, 40)
  from tenants t, generate_series(1, $1::int) as n`;
