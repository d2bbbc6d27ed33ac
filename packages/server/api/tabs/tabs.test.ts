import { insertGraphRun, registerGraph } from '@svc/testing/engine/graph-runs.ts';
import { startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ownPlugin } from './own-tabs.ts';

let world: FailedRuns;
let token: string;
beforeAll(async () => {
  world = await startFailedRuns();
  token = await world.server.login();
});
afterAll(() => world?.close());

it('a page of ours may be framed by the UI of its own origin only, and runs no inline script', async () => {
  for (const page of ['why', 'alerts', 'fleet', 'cost']) {
    const answer = await fetch(`${world.server.url}/svc-pages/${page}?dag_id=%3Cscript%3E`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-frame-options')).toBe('SAMEORIGIN');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("frame-ancestors 'self'");
    expect(policy).toContain("script-src 'self';");
    expect(await answer.text()).not.toMatch(/<script>|<script(?![^>]* src=)/);
  }
  const other = await fetch(`${world.server.url}/svc-pages/unknown`, { headers: { accept: 'text/html' } });
  expect(other.status).toBe(404);
});

it('a user without a permission is not offered the page that needs it', () => {
  const offered = (...permissions: Parameters<typeof ownPlugin>[0] extends ReadonlySet<infer One> ? One[] : never) =>
    ownPlugin(new Set(permissions)).external_views.map(({ url_route: route }) => route);
  expect(offered('read:task_instance')).toEqual(['why', 'why-task', 'cost', 'cost-task']);
  expect(offered('read:dag_run', 'read:pool')).toEqual([]);
  expect(offered('read:dag_run', 'read:task_instance', 'read:pool')).toEqual([
    'why',
    'why-task',
    'cost',
    'cost-task',
    'alerts',
    'fleet',
  ]);
});

it('the fleet of a tenant has its own queues, running tasks and delays, and nothing of another tenant', async () => {
  const graph = { dagId: 'busy', tasks: { a: {}, b: {} } };
  await registerGraph(world.engine.scope, graph);
  const began = { queue: 'gpu', scheduled_at: new Date(), start_date: new Date() };
  await insertGraphRun(world.engine.scope, {
    graph,
    runId: 'now',
    state: 'running',
    states: { a: { state: 'running', ...began }, b: { state: 'scheduled', queue: 'gpu', scheduled_at: new Date(0) } },
  });
  const mine = await world.server.call('/ui/fleet', { token });
  expect(mine.json()).toMatchObject({
    queues: [{ queue: 'gpu', running: 1, queued: 0, scheduled: 1, waiting_since: '1970-01-01T00:00:00.000000Z' }],
    running: [{ dag_id: 'busy', dag_run_id: 'now', task_id: 'a', map_index: -1, queue: 'gpu' }],
    task_delay: { count: 1 },
  });
  await world.server.addUser({ email: 'else@example.com', roles: ['admin'], tenant: 'elsewhere' });
  const other = await world.server.call('/ui/fleet', {
    token: await world.server.login('else@example.com', 'elsewhere'),
  });
  expect(other.json()).toMatchObject({ queues: [], running: [], task_delay: { count: 0 }, run_delay: { count: 0 } });
});
