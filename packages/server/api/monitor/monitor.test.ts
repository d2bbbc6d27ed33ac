import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { loadConfig } from '../../config/load.ts';
import { VERSION } from '../../version.ts';
import { executorInfo } from './monitor.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  // Only the API, which has to set itself up: nobody beats here unless a test does.
  server = await startTestServer({ 'server.role': 'api', 'database.migrate': 'always', 'ui.edition': 'pro' });
  token = await server.login();
});
afterAll(() => server?.close());

type Component = Record<string, string | null>;
type Health = Record<'metadatabase' | 'scheduler' | 'triggerer' | 'dag_processor', Component> & { workers: object[] };

const health = async () => (await server.call('/api/v2/monitor/health', { token })).json<Health>();
const startScheduler = () =>
  startTestServer({
    'database.url': server.config.database.url,
    'logs.dir': server.config.logs.dir, // all schedulers share it
    'server.role': 'scheduler',
    'ui.edition': 'pro',
    'scheduler.loop-interval-ms': '50',
  });

describe('GET /api/v2/monitor/health', () => {
  it('shows no scheduler while only an API runs, however long it has been up', async () => {
    const { metadatabase, scheduler, triggerer, dag_processor: dagProcessor } = await health();
    expect(metadatabase['status']).toBe('healthy');
    expect(scheduler).toMatchObject({ status: 'unhealthy', latest_scheduler_heartbeat: null });
    expect([triggerer['status'], dagProcessor['status']]).toEqual([null, null]);
    expect(await server.db.shared.selectFrom('heartbeats').selectAll().execute()).toEqual([]);
  });

  it('has every field of every component, absent ones as null', async () => {
    const fields = [
      'latest_dag_processor_heartbeat',
      'latest_scheduler_heartbeat',
      'latest_triggerer_heartbeat',
      'status',
    ];
    const { workers, ...components } = await health();
    expect(workers).toEqual([]);
    for (const component of Object.values(components)) expect(Object.keys(component).toSorted()).toEqual(fields);
  });

  it('follows a real scheduler: healthy while it beats, unhealthy when it has left', async () => {
    const scheduler = await startScheduler();
    try {
      await vi.waitFor(async () => expect((await health()).scheduler['status']).toBe('healthy'), { timeout: 120_000 });
      const beat = (await health()).scheduler['latest_scheduler_heartbeat'];
      expect(beat).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00$/);
      const nextBeat = async () => expect((await health()).scheduler['latest_scheduler_heartbeat']).not.toBe(beat);
      await vi.waitFor(nextBeat, { timeout: 120_000, interval: 200 });
    } finally {
      await scheduler.close();
    }
    expect((await health()).scheduler).toMatchObject({ status: 'unhealthy', latest_scheduler_heartbeat: null });
  });

  it('calls a scheduler unhealthy that has been silent for more than thirty seconds', async () => {
    // A busy machine may take the five seconds that are left: then it is tried again.
    await eventually(async () => {
      await server.db.shared.deleteFrom('heartbeats').execute();
      await beatAgo(25);
      expect((await health()).scheduler['status']).toBe('healthy');
    });
    await server.db.shared.deleteFrom('heartbeats').execute();
    await beatAgo(31);
    expect((await health()).scheduler).toMatchObject({
      status: 'unhealthy',
      latest_scheduler_heartbeat: expect.any(String) as string,
    });
  });

  it('is as healthy as its freshest scheduler: one that died long ago does not count', async () => {
    await beatAgo(3_600);
    expect((await health()).scheduler['status']).toBe('unhealthy');
    await beatAgo(0);
    expect((await health()).scheduler['status']).toBe('healthy');
  });

  it('needs a user, and nothing but a user', async () => {
    expect((await server.call('/api/v2/monitor/health')).status).toBe(401);
    await server.addUser({ email: 'bare@example.com', roles: [] });
    const bare = await server.login('bare@example.com');
    for (const path of ['/api/v2/monitor/health', '/api/v2/monitor/executor', '/api/v2/version'])
      expect((await server.call(path, { token: bare })).status).toBe(200);
  });
});

describe('GET /api/v2/version', () => {
  it('names this version', async () => {
    const answer = await server.call('/api/v2/version', { token });
    expect(answer.json()).toMatchObject({ version: VERSION });
    expect(Object.keys(answer.json()).toSorted()).toEqual(['git_version', 'version']);
  });
});

describe('GET /api/v2/monitor/executor', () => {
  it('says how tasks run', async () => {
    const answer = await server.call('/api/v2/monitor/executor', { token });
    expect(answer.json()).toMatchObject({ pod_dispatch_enabled: true, execution_modes: ['pod'] });
    expect(Object.keys(answer.json()).toSorted()).toEqual([
      'agent_control_plane_addr',
      'execution_modes',
      'pod_dispatch_enabled',
      'task_namespace',
    ]);
  });
});

describe('what is said of how tasks run', () => {
  const info = (env: Record<string, string>) => executorInfo(loadConfig({ env }).config);

  it.each([
    [{}, { pod_dispatch_enabled: true, task_namespace: 'default', execution_modes: ['pod'] }],
    [
      { SVC_EXECUTOR_TYPE: 'subprocess' },
      { pod_dispatch_enabled: false, task_namespace: '', execution_modes: ['subprocess'] },
    ],
    [{ SVC_SCHEDULER_ENABLED: 'false' }, { pod_dispatch_enabled: false, task_namespace: '', execution_modes: [] }],
    [
      { SVC_SCHEDULER_ENABLED: 'false', SVC_SERVER_ROLE: 'api' },
      { pod_dispatch_enabled: true, execution_modes: ['pod'] },
    ],
  ])('is true for %j', (env, expected) => {
    expect(info({ SVC_EXECUTOR_TASK_NAMESPACE: 'default', ...env })).toMatchObject(expected);
  });
});

describe('a process of the role scheduler', () => {
  it('answers probes and nothing else', async () => {
    const scheduler = await startScheduler();
    try {
      for (const path of ['/healthz', '/readyz'])
        await eventually(async () => expect((await scheduler.call(path)).status).toBe(200));
      for (const path of ['/api/v2/version', '/auth/login', '/openapi.json', '/docs', '/'])
        expect((await scheduler.call(path, { token })).status).toBe(404);
      const body = { username: 'admin@example.com', password: 'x' };
      expect((await scheduler.call('/auth/token', { method: 'POST', body })).status).toBe(404);
    } finally {
      await scheduler.close();
    }
  });
});

/** A scheduler whose last sign of life is so many seconds old. */
async function beatAgo(seconds: number): Promise<void> {
  const lastSeen = new Date(Date.now() - seconds * 1_000);
  await server.db.shared
    .insertInto('heartbeats')
    .values({
      process_id: crypto.randomUUID(),
      component: 'scheduler',
      hostname: 'elsewhere',
      version: VERSION,
      last_seen_at: lastSeen,
    })
    .execute();
}
