/** A whole Airflow, small, from its database: dry run, apply, again, and what can be done with it afterwards. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { loadConnectionSecrets, loadVariable } from '@svc/server/vault/load-secrets.ts';
import { openKeyring } from '@svc/server/open-keyring.ts';
import {
  createMysqlMetadata,
  createPostgresMetadata,
  createSqliteMetadata,
} from '@svc/testing/airflow/metadata-database.ts';
import type { MetadataFixture } from '@svc/testing/airflow/metadata-database.ts';
import { startMigrationTarget } from '@svc/testing/airflow/migration-target.ts';
import type { MigrationOutcome, MigrationTarget } from '@svc/testing/airflow/migration-target.ts';
import { fillSample } from '@svc/testing/airflow/sample-metadata.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { ADMIN_EMAIL } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let target: MigrationTarget;
let server: TestServer;
let token = '';
beforeAll(async () => {
  target = await startMigrationTarget();
  ({ server } = target);
  token = await server.login();
});
afterAll(() => target?.close());

const written = ({ counts }: MigrationOutcome) =>
  Object.fromEntries(Object.entries(counts).map(([kind, { create, change }]) => [kind, create + change]));
const entryOf = ({ entries }: MigrationOutcome, name: string, kind?: string) =>
  entries.find((entry) => entry.name === name && (kind === undefined || entry.kind === kind));

async function numbersOf(tenantId: string) {
  const tables = [
    'pools',
    'variables',
    'connections',
    'users',
    'dags',
    'dag_versions',
    'dag_runs',
    'task_instances',
    'task_instance_history',
  ] as const;
  const scope = server.db.tenant(tenantId);
  const counts = await Promise.all(
    tables.map((table) =>
      scope
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow(),
    ),
  );
  return Object.fromEntries(tables.map((table, index) => [table, counts[index]?.n]));
}

describe.each([
  ['2.10', 'sqlite'],
  ['2.10', 'mysql'],
  ['3.2', 'mysql'],
  ['3.2', 'postgres'],
] as const)('Airflow %s in %s', (version, kind) => {
  const tenant = `t${version.replace('.', '')}${kind}`;
  let from = '';
  let tenantId = '';
  let reader = '';
  let fixture: MetadataFixture;
  let drop: (() => Promise<void>) | undefined;
  const get = async <T = Record<string, unknown>>(path: string): Promise<T> => {
    const answer = await server.call(path, { token: reader });
    expect({ path, status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
      path,
      status: 200,
      text: '',
    });
    return answer.json() as T;
  };
  const here = (...argv: string[]) => target.migrate(from, '--tenant', tenant, ...argv);
  beforeAll(async () => {
    if (kind === 'sqlite') {
      from = join(target.directory, `${version}.db`);
      fixture = await createSqliteMetadata(from, version);
      from = `sqlite:///${from}`;
    } else if (kind === 'mysql') {
      const url = await target.mariadb.createDatabase();
      fixture = await createMysqlMetadata(url, version);
      from = url.replace('mysql:', 'mysql+mysqldb:');
    } else {
      const database = await createTestDatabase();
      drop = database.drop;
      const url = new URL(database.url);
      url.searchParams.set('options', '-csearch_path=airflow');
      from = url.toString();
      fixture = await createPostgresMetadata(from, version);
      from = from.replace('postgres:', 'postgresql+psycopg2:').replace('postgresql:', 'postgresql+psycopg2:');
    }
    await fillSample(fixture, version, target.keys);
    tenantId = await target.addTenant(tenant);
    reader = await target.tokenOf(tenant);
  });
  afterAll(async () => {
    await fixture?.close();
    await drop?.();
  });

  it('is shown first, and nothing is changed', async () => {
    const before = await numbersOf(tenantId);
    const outcome = await here();
    expect(written(outcome)).toMatchObject({ pools: 1, variables: 2, connections: 1, dags: 1, history: 4 });
    expect(outcome.task_instances).toBe(8);
    expect(await numbersOf(tenantId)).toEqual(before);
    const text = await runSvc(['migrate', '--from', from, '--tenant', tenant], { env: target.env });
    expect(text.stdout).toMatch(/variables +api_key +skip +its value is encrypted: give the Fernet key/);
    expect(text.stdout).toMatch(/connections +bad\/id +skip +its id is not one/);
    expect(text.stdout).toMatch(/history +etl scheduled__2024-01-04\S+ +skip +it is running there/);
    expect(text.stdout).toContain('Nothing was changed.');
    expect(await numbersOf(tenantId)).toEqual(before);
  });

  it('comes over, secrets opened with either key, and is audited', async () => {
    const outcome = await here('--apply');
    expect(written(outcome)).toMatchObject({ pools: 1, variables: 2, connections: 1, dags: 1, history: 4 });
    expect(entryOf(outcome, 'default_pool')).toMatchObject({
      outcome: 'left',
      reason: expect.stringContaining('slots') as string,
    });
    expect(entryOf(outcome, 'other')).toMatchObject({
      outcome: 'skip',
      reason: expect.stringContaining('does not open') as string,
    });
    const source = { db: server.db.tenant(tenantId), keyring: openKeyring(server.config), tenantId };
    expect(await loadVariable(source, 'api_key')).toBe('value-of-api-key');
    expect(await loadVariable(source, 'region')).toBe('eu');
    expect(await loadConnectionSecrets(source, 'warehouse')).toMatchObject({
      host: 'db',
      password: 'pw-of-warehouse',
      extra: '{"token":"token-in-extra"}',
      port: 5432,
    });
    const { event_logs: audited } = await get<{ event_logs: object[] }>('/api/v2/eventLogs?event=migrate_from_airflow');
    expect(audited.length).toBeGreaterThanOrEqual(5);
    expect(JSON.stringify(audited)).not.toMatch(/pw-of-warehouse|psycopg2:\/\/[^"]*:/);
  });

  it('comes over once: again there is nothing to do', async () => {
    const before = await numbersOf(tenantId);
    const outcome = await here('--apply');
    expect(written(outcome)).toEqual({ pools: 0, variables: 0, connections: 0, dags: 0, users: 0, history: 0 });
    expect(outcome.counts['history']).toMatchObject({ same: 4, skip: 1 });
    expect(await numbersOf(tenantId)).toEqual(before);
  });

  it('keeps its past: runs, instances, tries, notes, as the API and the pages of the web UI show them', async () => {
    const { dag_runs: runs } = await get<{ dag_runs: Record<string, unknown>[] }>(
      '/api/v2/dags/etl/dagRuns?order_by=run_after',
    );
    expect(runs.map((run) => [run['dag_run_id'], run['state'], run['logical_date']])).toEqual([
      ['scheduled__2024-01-01T00:00:00+00:00', 'success', '2024-01-01T00:00:00.000000Z'],
      ['scheduled__2024-01-02T00:00:00+00:00', 'failed', '2024-01-02T00:00:00.000000Z'],
      ['manual__x', 'success', '2024-01-03T00:00:00.000000Z'],
    ]);
    expect(runs[2]).toMatchObject({
      conf: { limit: 5, who: ['a', 'b'] },
      note: 'a note',
      run_type: 'manual',
      duration: 598,
    });
    const path = `/api/v2/dags/etl/dagRuns/${encodeURIComponent('scheduled__2024-01-01T00:00:00+00:00')}/taskInstances`;
    const { task_instances: instances } = await get<{ task_instances: Record<string, unknown>[] }>(path);
    expect(
      instances.map((row) => [row['task_id'], row['map_index'], row['state'], row['try_number']]).toSorted(),
    ).toEqual([
      ['extract', -1, 'success', 2],
      ['g.load', 0, 'success', 1],
      ['g.load', 1, 'success', 1],
      ['old_task', -1, 'skipped', 1],
    ]);
    expect(instances.find((row) => row['map_index'] === 0)).toMatchObject({
      rendered_map_index: 'zero',
      operator: '_PythonDecoratedOperator',
      operator_name: '@task',
    });
    expect(await get(`${path}/extract`)).toMatchObject({
      note: 'note of a task',
      hostname: 'w1',
      dag_version: { version_number: 0 },
    });
    const { task_instances: tries } = await get<{ task_instances: Record<string, unknown>[] }>(`${path}/extract/tries`);
    expect(tries.map((row) => [row['try_number'], row['state']])).toEqual([
      [1, 'failed'],
      [2, 'success'],
    ]);
    const live = await get<{ state: null }>('/api/v2/dags/etl/dagRuns/manual__x/taskInstances/extract');
    expect(live.state).toBeNull();

    const rows = await get<{ id: string; children?: { id: string }[] | null }[]>('/ui/grid/structure/etl');
    expect(rows.map((row) => row.id).toSorted()).toEqual(['extract', 'g', 'old_task']);
    const columns = await get<{ run_id: string }[]>('/ui/grid/runs/etl');
    expect(columns).toHaveLength(3);
    expect(
      await get<{ nodes: object[]; edges: object[] }>('/ui/structure/structure_data?dag_id=etl&version_number=0'),
    ).toMatchObject({
      edges: [expect.objectContaining({ source_id: 'extract' })],
    });
    await get('/ui/calendar/etl');
    await get(`/ui/gantt/etl/${encodeURIComponent('scheduled__2024-01-01T00:00:00+00:00')}`);
    await get('/api/v2/dags/etl/details');
    await get('/api/v2/dags/etl/dagVersions');
    await get('/api/v2/dags/etl/tasks');
    expect((await server.call('/api/v2/dagSources/etl?version_number=0', { token: reader })).status).toBeLessThan(500);
    const stats = await get<{ dag_run_states?: object }>(
      '/ui/dashboard/historical_metrics_data?start_date=2024-01-01T00:00:00Z&end_date=2024-02-01T00:00:00Z',
    );
    expect(stats).toMatchObject({
      dag_run_states: { success: 3, failed: 1 },
      task_instance_states: { success: 4, failed: 1, upstream_failed: 1, skipped: 1, no_status: 1 },
    });
    const { total_entries: total } = await get<{ total_entries: number }>(
      '/api/v2/dags/~/dagRuns/~/taskInstances?limit=1',
    );
    expect(total).toBe(8);
  });

  it('is nobody else\u2019s: the tenant beside it sees none of it', async () => {
    for (const path of ['/api/v2/dags/etl', '/api/v2/dags/etl/dagRuns/manual__x', '/api/v2/connections/warehouse'])
      expect((await server.call(path, { token })).status).toBe(404);
    const answer = await server.call('/api/v2/dags/~/dagRuns', { token });
    expect(answer.json()).toMatchObject({ total_entries: 0 });
  });

  test.each([
    ['clearing a run', 'POST', '/dags/etl/dagRuns/manual__x/clear', { dry_run: false }],
    ['what clearing it would be', 'POST', '/dags/etl/dagRuns/manual__x/clear', {}],
    [
      'clearing it with the newest version',
      'POST',
      '/dags/etl/dagRuns/manual__x/clear',
      { dry_run: false, run_on_latest_version: true },
    ],
    [
      'clearing tasks',
      'POST',
      '/dags/etl/clearTaskInstances',
      { dry_run: false, only_failed: false, dag_run_id: 'manual__x' },
    ],
    ['clearing a range', 'POST', '/dags/etl/clearTaskInstances', { dry_run: false, only_failed: false }],
    ['marking a run', 'PATCH', '/dags/etl/dagRuns/manual__x', { state: 'failed' }],
    ['queueing a run', 'PATCH', '/dags/etl/dagRuns/manual__x', { state: 'queued' }],
    ['marking a task', 'PATCH', '/dags/etl/dagRuns/manual__x/taskInstances/extract', { new_state: 'success' }],
    [
      'what marking it would be',
      'PATCH',
      '/dags/etl/dagRuns/manual__x/taskInstances/extract/dry_run',
      { new_state: 'success' },
    ],
  ])('%s of it is refused in words, and changes nothing', async (_what, method, path, body) => {
    const answer = await server.call(`/api/v2${path}`, { method, token: reader, body });
    expect(answer.json()).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/imported from Airflow and can only be read or deleted/) as string,
    });
    const run = await get('/api/v2/dags/etl/dagRuns/manual__x');
    expect(run).toMatchObject({ state: 'success' });
  });

  it('refuses a mark in bulk, and a trigger of what is not deployed; a note may be written', async () => {
    const body = { actions: [{ action: 'update', entities: [{ task_id: 'extract', new_state: 'success' }] }] };
    const bulk = await server.call('/api/v2/dags/etl/dagRuns/manual__x/taskInstances', {
      method: 'PATCH',
      token: reader,
      body,
    });
    expect(bulk.json()).toMatchObject({ update: { errors: [{ status_code: 409 }] } });
    const trigger = await server.call('/api/v2/dags/etl/dagRuns', {
      method: 'POST',
      token: reader,
      body: { logical_date: null },
    });
    expect(trigger.status).toBe(404);
    const note = await server.call('/api/v2/dags/etl/dagRuns/manual__x', {
      method: 'PATCH',
      token: reader,
      body: { note: 'seen' },
    });
    expect(note.json()).toMatchObject({ note: 'seen' });
  });

  it('goes on when the DAG is deployed: pause state kept, history there, the schedule after the last run', async () => {
    await registerScheduledDag(
      server.db.tenant(tenantId),
      {
        dagId: 'etl',
        schedule: { type: 'cron_data_interval', expression: '0 0 * * *', timezone: 'UTC' } as never,
        dag: { catchup: true, start_date: '2024-01-01T00:00:00Z', is_paused_upon_creation: true },
      },
      '2024-01-20T00:00:00Z',
    );
    const dag = await get('/api/v2/dags/etl');
    expect(dag).toMatchObject({
      is_paused: false,
      is_stale: false,
      next_dagrun_logical_date: '2024-01-03T00:00:00.000000Z',
    });
    expect(await get('/api/v2/dags/etl/dagRuns')).toMatchObject({ total_entries: 3 });
    const { dag_versions: versions } = await get<{ dag_versions: { version_number: number }[] }>(
      '/api/v2/dags/etl/dagVersions',
    );
    expect(versions.map((each) => each.version_number).toSorted()).toEqual([0, 1]);
    const range = { dag_id: 'etl', from_date: '2024-01-02T00:00:00Z', to_date: '2024-01-02T00:00:00Z' };
    const again = await server.call('/api/v2/backfills', {
      method: 'POST',
      token: reader,
      body: { ...range, reprocess_behavior: 'failed' },
    });
    expect(again.text).toContain('was imported from Airflow and cannot run again');
    expect(again.status).toBeLessThan(500);
  });

  it('leaves what differs, and changes it with --overwrite', async () => {
    await server.call('/api/v2/dags/etl', { method: 'PATCH', token: reader, body: { is_paused: true } });
    await server.call('/api/v2/variables/region', {
      method: 'PATCH',
      token: reader,
      body: { key: 'region', value: 'us' },
    });
    await fixture.run(`update dag_run set state = 'success' where id = 12`);
    const left = await here('--apply');
    expect(entryOf(left, 'region')).toMatchObject({
      outcome: 'left',
      reason: 'differs in value; --overwrite changes it',
    });
    expect(entryOf(left, 'etl', 'dags')).toMatchObject({ outcome: 'left' });
    expect(entryOf(left, 'etl scheduled__2024-01-02T00:00:00+00:00')).toMatchObject({ outcome: 'left' });
    const changed = await here('--apply', '--overwrite');
    expect(written(changed)).toMatchObject({ pools: 1, variables: 1, dags: 1, history: 1 });
    expect(await get('/api/v2/variables/region')).toMatchObject({ value: 'eu' });
    expect(await get('/api/v2/dags/etl')).toMatchObject({ is_paused: false });
    expect(await get('/api/v2/dags/etl/dagRuns?state=failed')).toMatchObject({ total_entries: 0 });
    expect(await get('/api/v2/dags/etl/dagRuns')).toMatchObject({ total_entries: 3 });
  });

  it('can be deleted, run by run and with its DAG, and the counts follow', async () => {
    const one = await server.call('/api/v2/dags/etl/dagRuns/manual__x', { method: 'DELETE', token: reader });
    expect(one.status).toBe(204);
    const first = `/api/v2/dags/etl/dagRuns/${encodeURIComponent('scheduled__2024-01-01T00:00:00+00:00')}`;
    const task = await server.call(`${first}/taskInstances/old_task`, { method: 'DELETE', token: reader });
    expect(task.status).toBe(204);
    expect(await get(first)).toMatchObject({ state: 'success' });
    expect(await get('/api/v2/dags/~/dagRuns/~/taskInstances')).toMatchObject({ total_entries: 6 });
    const all = await server.call('/api/v2/dags/gone', { method: 'DELETE', token: reader });
    expect(all.status).toBe(204);
    expect(await get('/api/v2/dags/~/dagRuns/~/taskInstances')).toMatchObject({ total_entries: 5 });
  });
});

describe('svc migrate', () => {
  it('brings users with their roles, without passwords', async () => {
    const tenant = 't210sqlite';
    const answer = await server.call('/api/v2/users', { token: await target.tokenOf(tenant) });
    const { users } = answer.json<{ users: { email: string; roles: string[]; is_active: boolean }[] }>();
    expect(users.find((user) => user.email === 'ana@example.com')).toMatchObject({
      roles: ['editor'],
      is_active: true,
    });
    expect(users.find((user) => user.email === 'ben@example.com')).toMatchObject({
      roles: ['viewer'],
      is_active: false,
    });
    const outcome = await target.migrate(join(target.directory, '2.10.db'), '--tenant', tenant, '--only', 'users');
    expect(entryOf(outcome, 'root')).toMatchObject({ outcome: 'skip' });
    const body = { username: 'ana@example.com', password: 'scrypt:32768:8:1$x$y', tenant };
    expect((await server.call('/auth/token', { method: 'POST', body })).status).toBe(401);
  });

  it('keeps the last administrator, whatever Airflow says of it', async () => {
    const from = join(target.directory, '2.10.db');
    const outcome = await target.migrate(from, '--only', 'users', '--apply', '--overwrite');
    expect(entryOf(outcome, ADMIN_EMAIL)).toMatchObject({
      outcome: 'left',
      reason: expect.stringContaining('last administrator') as string,
    });
  });

  it('takes some kinds, some DAGs, and what is new', async () => {
    await target.addTenant('part');
    const from = join(target.directory, '2.10.db');
    const some = await target.migrate(
      from,
      '--tenant',
      'part',
      '--only',
      'history,pools',
      '--dags',
      'e*',
      '--since',
      '2024-01-02',
      '--apply',
    );
    expect(Object.keys(some.counts)).toEqual(['pools', 'history']);
    expect(some.counts['history']).toMatchObject({ create: 2, skip: 1 });
  });
});
