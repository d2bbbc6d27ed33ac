/** Killed in the middle: what was committed stays, the rest comes with the next call, and nothing comes twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSqliteMetadata } from '@svc/testing/airflow/metadata-database.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';

const RUNS = 2_000;
let directory: string;
let from: string;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let client: pg.Client;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-resume-'));
  from = join(directory, 'airflow.db');
  const airflow = await createSqliteMetadata(from, '3.2');
  await airflow.insert('dag', { dag_id: 'many', is_paused: true, is_stale: false, fileloc: 'x.py', owners: 'ana' });
  const numbers = Array.from({ length: RUNS }, (_, number) => number + 1);
  const date = (number: number) => new Date(Date.UTC(2024, 0, 1, number)).toISOString().slice(0, 19).replace('T', ' ');
  await airflow.insert(
    'dag_run',
    ...numbers.map((id) => ({
      id,
      dag_id: 'many',
      run_id: `run_${id}`,
      run_type: 'scheduled',
      state: 'success',
      logical_date: date(id),
      run_after: date(id),
      start_date: date(id),
      end_date: date(id),
    })),
  );
  await airflow.insert(
    'task_instance',
    ...numbers.flatMap((run) =>
      ['a', 'b'].map((task) => ({
        id: `${run}${task}`,
        dag_id: 'many',
        run_id: `run_${run}`,
        task_id: task,
        map_index: -1,
        state: 'success',
        try_number: 1,
        max_tries: 0,
        pool: 'default_pool',
        pool_slots: 1,
        hostname: '',
      })),
    ),
  );
  await airflow.close();
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

const countOf = async (table: string): Promise<number> =>
  Number((await client.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]?.n);

it('an import that was killed goes on where it stopped, and ends with everything once', async () => {
  const env = { XDG_CONFIG_HOME: directory, SVC_DATABASE_URL: database.url };
  expect((await runSvc(['users', 'grant-admin', 'a@example.com', '--create'], { env })).code).toBe(0);
  // A run of ours in the making, of which nobody can say yet whether it will stand in the way: the import waits there.
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  const argv = ['migrate', '--from', from, '--only', 'dags,history', '--apply'];
  expect((await runSvc([...argv, '--only', 'dags'], { env })).code).toBe(0);
  await blocker.query('begin');
  await blocker.query(`insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, run_after, triggered_by, version_number)
    select id, 'many', 'run_1200', 'manual', 'success', now(), 'test', 1 from tenants where name = 'default'`);
  const first = spawnSvc(argv, env);
  await expect
    .poll(
      async () => (await client.query<{ position: string }>('select position from airflow_imports')).rows[0]?.position,
      { timeout: 100_000 },
    )
    .toBe('1000');
  first.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  await blocker.query('rollback');
  await blocker.end();
  expect([await countOf('dag_runs'), await countOf('task_instances')]).toEqual([1_000, 2_000]);

  const second = await runSvc([...argv, '--json'], { env });
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(second.stdout)).toMatchObject({
    counts: { history: { create: 1_000, same: 0 } },
    task_instances: 2_000,
  });
  expect(second.stdout).toContain('goes on where an earlier import was interrupted');
  expect([await countOf('dag_runs'), await countOf('task_instances')]).toEqual([RUNS, 2 * RUNS]);
  const { rows } = await client.query(
    `select sum(success) as instances, sum(runs_success) as runs from instances_of_finished_runs`,
  );
  expect(rows[0]).toMatchObject({ instances: String(2 * RUNS), runs: String(RUNS) });

  const third = await runSvc([...argv, '--json'], { env });
  expect(JSON.parse(third.stdout)).toMatchObject({ counts: { history: { create: 0, same: RUNS } } });
}, 400_000);
