import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from 'kysely';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let token = '';
beforeAll(async () => {
  server = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await server.login();
  await sql`insert into heartbeats (process_id, component, hostname, version, started_at, last_seen_at, stopped_at, unixname, executor) values
    (gen_random_uuid(), 'scheduler', 'alive', '1', '2026-01-01', now(), null, 'svc', '{"execution_modes":["subprocess","pod"]}'),
    (gen_random_uuid(), 'scheduler', 'silent', '1', '2026-01-02', now() - interval '1 minute', null, 'airflow', '{"execution_modes":["pod"]}'),
    (gen_random_uuid(), 'dag_processor', 'left', '1', '2026-01-03', now(), '2026-01-04', null, null)`.execute(
    server.db.shared,
  );
});
// A busy machine takes longer for all tests of this file than a process may be silent.
beforeEach(() => sql`update heartbeats set last_seen_at = now() where hostname = 'alive'`.execute(server.db.shared));
afterAll(() => server?.close());

type Job = { hostname: string; state: string; job_type: string; end_date: string | null } & Record<
  'unixname' | 'executor_class',
  string | null
>;
const jobs = async (query = '') =>
  (await server.call(`/api/v2/jobs?${query}`, { token })).json<{ jobs: Job[]; total_entries: number }>();
const hosts = async (query: string) => (await jobs(query)).jobs.map((job) => job.hostname);

it('the list of jobs tells a process that lives from one that left and one that died', async () => {
  const { jobs: all, total_entries: total } = await jobs();
  expect(total).toBe(3);
  expect(all.map(({ hostname, state, job_type: type }) => [hostname, state, type])).toEqual([
    ['alive', 'running', 'SchedulerJob'],
    ['silent', 'failed', 'SchedulerJob'],
    ['left', 'success', 'DagProcessorJob'],
  ]);
  expect(all.map((job) => job.end_date)).toEqual([null, expect.any(String), '2026-01-04T00:00:00.000000Z']);
});

it('a job says as whom its process runs and with what it runs tasks, which the page of jobs has columns for', async () => {
  const { jobs: all } = await jobs();
  expect(all.map(({ unixname, executor_class: executor }) => [unixname, executor])).toEqual([
    ['svc', 'LocalExecutor'],
    ['airflow', 'KubernetesExecutor'],
    [null, null],
  ]);
});

it.each([
  ['is_alive=true', ['alive']],
  ['is_alive=false', ['silent', 'left']],
  ['job_state=failed', ['silent']],
  ['job_type=SchedulerJob&order_by=-id', ['silent', 'alive']],
  ['hostname=left', ['left']],
  ['executor_class=LocalExecutor', ['alive']],
  ['executor_class=KubernetesExecutor', ['silent']],
  ['order_by=unixname&limit=1', ['silent']],
  ['order_by=-executor_class&limit=2', ['left', 'alive']],
  ['start_date_gte=2026-01-02T00:00:00Z', ['silent', 'left']],
  ['end_date_lt=2026-01-05T00:00:00Z', ['left']],
  ['order_by=-hostname&limit=1', ['silent']],
  ['order_by=dag_id', ['alive', 'silent', 'left']],
])('the list of jobs finds processes by %s', async (query, expected) => {
  expect(await hosts(query)).toEqual(expected);
});
