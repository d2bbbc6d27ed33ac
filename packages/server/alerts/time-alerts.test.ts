import { SECRET_KEY, testSender } from '@svc/testing/alerts/alerting.ts';
import { startHttpReceiver } from '@svc/testing/alerts/http-receiver.ts';
import type { HttpReceiver } from '@svc/testing/alerts/http-receiver.ts';
import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ensureTenant } from '../auth/tenants.ts';
import type { TenantDb } from '../db/database.ts';
import type { AlertSender } from './sender.ts';
import { lookAtTime } from './time-alerts.ts';

let server: TestServer;
let token: string;
let scope: TenantDb;
let receiver: HttpReceiver;
let sender: AlertSender;

beforeAll(async () => {
  // Nothing runs or ends by itself: what is late stays late.
  const flags = { 'scheduler.enabled': 'false', 'secret-key': SECRET_KEY, 'alerts.allow-private-addresses': 'true' };
  server = await startTestServer(flags);
  token = await server.login();
  scope = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  receiver = await startHttpReceiver();
  sender = testSender(server);
  await post('/api/v2/connections', { connection_id: 'hook', conn_type: 'http', host: receiver.url });
});
afterAll(async () => {
  await sender?.stop();
  await receiver?.close();
  await server?.close();
});
beforeEach(async () => {
  await scope.deleteFrom('alert_rules').execute();
  receiver.received.length = 0;
});

async function post(path: string, body: object): Promise<void> {
  const answer = await server.call(path, { method: 'POST', token, body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
}
const rule = (name: string, fields: object): Promise<void> =>
  post('/api/v2/alerts/rules', { name, channel: 'webhook', connection_id: 'hook', ...fields });
const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1_000);

/** What a look, and another one that finds nothing new, send. */
async function look(): Promise<[unknown, unknown, unknown][]> {
  for (const _ of [1, 2]) {
    await lookAtTime(server.db);
    await sender.drain();
  }
  return receiver.received.splice(0).map(({ body }) => [body['rule'], body['kind'], body['title']]);
}

it('a run past its deadline, or slower than its own 95th percentile, is one alert, which ends with the run', async () => {
  const graph = { dagId: 'slow', tasks: { a: {} } };
  await registerGraph(scope, graph);
  for (let day = 1; day <= 6; day += 1) {
    const runAfter = ago(86_400 * day);
    const took = { start_date: runAfter, end_date: new Date(runAfter.getTime() + 20_000) };
    const states = { a: 'success' as const };
    await insertGraphRun(scope, { graph, runId: `day-${day}`, state: 'success', run_after: runAfter, ...took, states });
  }
  await rule('twice', { events: ['late', 'recovered'] });
  await rule('tenfold', { events: ['late'], late_factor: 10 });
  await rule('deadline', { events: ['late'], late_seconds: 45, dags: ['sl*'] });
  await rule('hours', { events: ['late'], late_seconds: 7_200 });
  await rule('others', { events: ['late'], late_seconds: 1, dags: ['fast'] });
  const due = ago(110); // ten times as long as usual is far away
  const run = await insertGraphRun(scope, {
    graph,
    runId: 'today',
    state: 'running',
    run_after: due,
    start_date: due,
    states: { a: 'running' },
  });
  const sent = await look();
  expect(sent.map(([name, kind]) => [name, kind]).toSorted()).toEqual([
    ['deadline', 'open'],
    ['twice', 'open'],
  ]);
  expect(sent[0]?.[2]).toMatch(
    /^A run of slow is late: was due \d min ago and runs for \d min, and 95 % of its runs take/,
  );
  await scope.updateTable('dag_runs').set({ state: 'success', end_date: new Date() }).where('id', '=', run).execute();
  expect(await look()).toEqual([['twice', 'over', expect.stringMatching(/^Over: A run of slow is late/)]]);
});

it('tasks that wait too long for a worker are one alert for their queue, with what they wait for', async () => {
  const graph = { dagId: 'stuck_dag', tasks: { a: {}, b: {} } };
  await registerGraph(scope, graph);
  const waiting = { state: 'scheduled' as const, queue: 'gpu', scheduled_at: ago(3_600) };
  await insertGraphRun(scope, { graph, runId: 'r', state: 'running', states: { a: waiting, b: waiting } });
  await rule('stuck', { events: ['stuck'], stuck_seconds: 600 });
  await rule('patient', { events: ['stuck'], stuck_seconds: 7_200 });
  await rule('only_b', { events: ['stuck'], tasks: ['b'] });
  await lookAtTime(server.db);
  await sender.drain();
  const texts = Object.fromEntries(receiver.received.map(({ body }) => [body['rule'], body]));
  expect(Object.keys(texts).toSorted()).toEqual(['only_b', 'stuck']);
  expect(texts['stuck']?.['title']).toMatch(
    /^2 tasks of stuck_dag are stuck since .* UTC: waits in queue gpu for 6\d min$/,
  );
  expect(texts['only_b']?.['text']).toMatch(
    /waits in queue gpu for 6\d min\nwaits: .*\nends: .*\ntry: look at the page Fleet/,
  );
});

it('a schedule that makes no runs is an alert only of its own tenant, and over when its next run is ahead', async () => {
  await registerGraph(scope, { dagId: 'daily', tasks: { a: {} } });
  const set = (next: Date) =>
    scope
      .updateTable('dags')
      .set({ is_paused: false, next_dagrun_run_after: next })
      .where('dag_id', '=', 'daily')
      .execute();
  await set(ago(1_200));
  await rule('schedules', { events: ['stale_schedule', 'recovered'] });
  const { id: other } = await ensureTenant(server.db.shared, 'other');
  const values = { name: 'theirs', events: ['stale_schedule', 'late', 'stuck'], channel: 'webhook', conn_id: 'hook' };
  await server.db.tenant(other).insertInto('alert_rules').values(values).execute();
  expect(await look()).toEqual([
    [
      'schedules',
      'open',
      expect.stringMatching(/^The schedule of daily is stale: its next run was due 2\d min ago and was not made$/),
    ],
  ]);
  await set(ago(-600));
  expect(await look()).toEqual([['schedules', 'over', expect.stringMatching(/^Over: The schedule of daily is stale/)]]);
  expect(await server.db.tenant(other).selectFrom('alerts').select('id').execute()).toEqual([]);
});
