/** Metadata databases of a real Airflow 3.2.2, with a DAG it ran and settings it encrypted: SQLite as it makes it by itself, and MariaDB. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKeyring } from '@svc/server/open-keyring.ts';
import { loadConnectionSecrets, loadVariable } from '@svc/server/vault/load-secrets.ts';
import { installAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import { newFernetKey } from '@svc/testing/airflow/metadata-database.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { CACHE } from '@svc/testing/paths.ts';
import { startMariadb } from '@svc/testing/services/mariadb.ts';
import type { TestMariadb } from '@svc/testing/services/mariadb.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const DAG = `
import datetime
from airflow.sdk import DAG, TaskGroup, task
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("etl", schedule="@daily", start_date=datetime.datetime(2024, 1, 1), catchup=False, tags=["daily"]):
    @task
    def numbers():
        return [1, 2, 3]

    @task
    def add(x):
        return x + 1

    with TaskGroup("g") as group:
        EmptyOperator(task_id="one") >> EmptyOperator(task_id="two")
    add.expand(x=numbers()) >> group
`;

describe.each(['sqlite', 'mariadb'] as const)('an Airflow on %s', (kind) => {
  let server: TestServer;
  let mariadb: TestMariadb | undefined;
  let home: string;
  let key: string;
  let from: string;
  beforeAll(async () => {
    await installAirflow();
    home = mkdtempSync(join(tmpdir(), 'svc-real-airflow-'));
    key = newFernetKey();
    from = join(home, 'airflow.db');
    if (kind === 'mariadb') {
      mariadb = await startMariadb();
      from = (await mariadb.createDatabase()).replace('mysql:', 'mysql+pymysql:');
    }
    // It asks for mysqlclient, which would have to be compiled, whatever driver it uses.
    mkdirSync(join(home, 'MySQLdb'));
    writeFileSync(join(home, 'MySQLdb', '__init__.py'), '');
    writeFileSync(join(home, 'MySQLdb', 'converters.py'), 'conversions = {}\nDateTime2literal = None\n');
    mkdirSync(join(home, 'dags'));
    writeFileSync(join(home, 'dags', 'etl.py'), DAG);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      AIRFLOW_HOME: home,
      AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
      AIRFLOW__CORE__DAGS_FOLDER: join(home, 'dags'),
      AIRFLOW__CORE__FERNET_KEY: key,
      ...(kind === 'mariadb' && { AIRFLOW__DATABASE__SQL_ALCHEMY_CONN: from, PYTHONPATH: home }),
    };
    // Not by its script, which names the directory that it was installed in first.
    const python = join(CACHE, 'airflow-3.2.2', 'bin', 'python');
    const airflow = (...argv: string[]) =>
      execFileSync(python, ['-m', 'airflow', ...argv], { env, cwd: home, stdio: ['ignore', 'ignore', 'pipe'] });
    const warehouse = ['--conn-host', 'db', '--conn-schema', 'public', '--conn-password', 'pw-of-warehouse'];
    airflow('db', 'migrate');
    airflow('connections', 'add', 'warehouse', '--conn-type', 'postgres', ...warehouse);
    airflow('variables', 'set', 'api_key', 'value-of-api-key');
    airflow('pools', 'set', 'etl', '3', 'for etl');
    airflow('dags', 'reserialize');
    airflow('dags', 'test', 'etl', '2024-01-02');
    server = await startTestServer();
  }, 600_000);
  afterAll(async () => {
    await server?.close();
    await mariadb?.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('comes over whole: secrets, pools, the DAG and the run with its mapped tasks', { timeout: 300_000 }, async () => {
    const env = {
      XDG_CONFIG_HOME: home,
      SVC_DATABASE_URL: server.config.database.url,
      SVC_SECRET_KEY: server.config.secretKey,
      AIRFLOW__CORE__FERNET_KEY: key,
    };
    const outcome = await runSvc(['migrate', '--from', from, '--apply', '--json'], { env });
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).not.toMatch(/pw-of-warehouse|value-of-api-key/);
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      version: 'Airflow 3, schema revision 1d6611b6ab7c',
      counts: {
        pools: { create: 1, skip: 0 },
        variables: { create: 1, skip: 0 },
        connections: { create: 1, skip: 0 },
        dags: { create: 1, skip: 0 },
        history: { create: 1, skip: 0 },
      },
      task_instances: 6,
    });
    const tenantId = (await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow()).id;
    const source = { db: server.db.tenant(tenantId), keyring: openKeyring(server.config), tenantId };
    expect(await loadVariable(source, 'api_key')).toBe('value-of-api-key');
    expect(await loadConnectionSecrets(source, 'warehouse')).toMatchObject({
      host: 'db',
      schema: 'public',
      password: 'pw-of-warehouse',
    });
    const token = await server.login();
    const get = async <T>(path: string): Promise<T> => (await server.call(path, { token })).json() as T;
    const { task_instances: instances } = await get<{
      task_instances: { task_id: string; map_index: number; state: string }[];
    }>('/api/v2/dags/etl/dagRuns/~/taskInstances');
    expect(instances.map((row) => `${row.task_id}[${row.map_index}] ${row.state}`).toSorted()).toEqual([
      'add[0] success',
      'add[1] success',
      'add[2] success',
      'g.one[-1] success',
      'g.two[-1] success',
      'numbers[-1] success',
    ]);
    const { dag_runs: runs } = await get<{ dag_runs: { logical_date: string }[] }>('/api/v2/dags/etl/dagRuns');
    expect(runs.map((run) => run.logical_date)).toEqual(['2024-01-02T00:00:00.000000Z']);
    const rows = await get<{ id: string; is_mapped?: boolean | null }[]>('/ui/grid/structure/etl');
    expect(rows.map((row) => row.id).toSorted()).toEqual(['add', 'g', 'numbers']);
    expect(rows.find((row) => row.id === 'add')).toMatchObject({ is_mapped: true });
  });
});
