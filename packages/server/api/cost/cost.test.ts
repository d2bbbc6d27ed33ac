import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cost, CostAdvice, TaskInstanceUsage } from '@svc/client/wire-types.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { startFailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import type { FailedRuns } from '@svc/testing/mcp/failed-runs.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { foldWork } from '../../db/work/fold-work.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advise } from './advise.ts';

const GIB = 2 ** 30;
const HOUR = 3_600;
/** One processor for an hour, and a GiB for an hour. */
const AN_HOUR = { cpu: HOUR, run: HOUR, memory: GIB, read: 10, written: 5 };

let world: FailedRuns;
let token: string;
let runId: string;
beforeAll(async () => {
  world = await startFailedRuns({
    'cost.cpu-hour': '2',
    'cost.gib-hour': '0.5',
    'cost.queue-cpu-hour': 'gpu=10',
    'cost.currency': 'EUR',
  });
  token = await world.server.login();
  const tasks = graphOf({ extract: [], train: ['extract'] }, (id) => ({
    ...(id === 'train' && { policy: { queue: 'gpu' } }),
    rest: {
      resources: { memory: '4Gi' },
      ...(id === 'train' && { outlets: [{ type: 'asset' as const, name: 'model', uri: 's3://model' }] }),
    },
  }));
  await world.engine.register(makeSpec({ dagId: 'costly', tasks, dag: { owners: ['ada', 'bob'], tags: ['ml'] } }));
  const used = { extract: { usage: AN_HOUR }, train: { usage: AN_HOUR } };
  ({ runId } = await world.run('costly', used));
  await foldWork(world.engine.db, { perTask: false });
  await world.run('costly', used); // not folded
  await world.register('cheap', graphOf({ a: [] }));
  await world.run('cheap', { a: { usage: { cpu: 1, run: 1, memory: 1 } } });
});
afterAll(() => world?.close());

const get = async <T>(path: string): Promise<T> => {
  const answer = await world.server.call(path, { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.json<T>();
};
const cost = (query: string) => get<Cost>(`/api/v2/cost?${query}`);

describe('the cost of tries', () => {
  it('counts folded days and newer facts, each once, at the price of its queue', async () => {
    const found = await cost('by=dag&limit=1');
    expect(found).toMatchObject({ by: 'dag', currency: 'EUR', total_entries: 2, total: { tries: 5 } });
    expect(found.groups).toHaveLength(1);
    // Two tries on the default queue at 2 + 0.5, and two on the queue gpu at 10 + 0.5.
    expect(found.groups[0]).toMatchObject({
      key: 'costly',
      tries: 4,
      cpu_seconds: 4 * HOUR,
      gib_seconds: 4 * HOUR,
      memory_bytes: GIB,
      read_bytes: 40,
      written_bytes: 20,
    });
    expect(found.groups[0]?.cost).toBeCloseTo(26, 6);
    expect(found.groups[0]?.waits?.map(({ reason }) => reason)).toContain('slot');
  });

  it.each([
    ['task', { 'costly.train': 21, 'costly.extract': 5 }],
    ['queue', { gpu: 21, default: 5 }],
    ['owner', { ada: 26, bob: 26 }],
    ['tag', { ml: 26 }],
    ['asset', { model: 21 }],
    ['tenant', { default: 26 }],
  ])('is added up by %s', async (by, wanted) => {
    const { groups } = await cost(`by=${by}`);
    for (const [key, amount] of Object.entries(wanted))
      expect(groups.find((group) => group.key === key)?.cost, JSON.stringify(groups)).toBeCloseTo(amount, 2);
  });

  it('of another tenant and of days before the first one is not shown', async () => {
    expect((await cost('since=2999-01-01')).groups).toEqual([]);
    const stranger = await world.server.addUser({ email: 'eve@other', roles: ['viewer'], tenant: 'other' });
    const login = await world.server.login('eve@other', 'other');
    expect(stranger).toBeDefined();
    const answer = await world.server.call('/api/v2/cost', { token: login });
    expect(answer.json<Cost>()).toMatchObject({ groups: [], total: { tries: 0 }, total_entries: 0 });
    const advice = await world.server.call('/api/v2/dags/costly/costAdvice', { token: login });
    expect(advice.status).toBe(404);
  });

  it('of one task instance has each try with its waits', async () => {
    const path = `/api/v2/dags/costly/dagRuns/${encodeURIComponent(runId)}/taskInstances/train/usage`;
    const { tries } = await get<TaskInstanceUsage>(path);
    expect(tries).toMatchObject([{ try_number: 1, state: 'success', queue: 'gpu', cpu_seconds: HOUR, cost: 10.5 }]);
    expect((await world.server.call(`${path}?map_index=3`, { token })).status).toBe(404);
  });

  it('advises a smaller request where tasks peak far below it', async () => {
    await world.run('costly', { extract: { usage: AN_HOUR }, train: { usage: AN_HOUR } });
    const { tasks } = await get<CostAdvice>('/api/v2/dags/costly/costAdvice');
    expect(tasks[0]).toMatchObject({
      task_id: 'extract',
      requested: { cpu: null, memory: '4Gi' },
      suitable: { cpu: '1000m', memory: '1280Mi' },
      advice: [{ code: 'memory_over_requested', text: 'it requests 4Gi and peaks at 1024 MiB: 1280Mi is enough' }],
    });
  });

  it('is printed by svc cost with a total, and as JSON', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-cost-'));
    const env = { XDG_CONFIG_HOME: directory, SVC_SERVER_URL: world.server.url, SVC_TOKEN: token };
    const printed = await runSvc(['cost', '--by', 'queue', '--since', '7d'], { env });
    expect(printed.stdout, printed.stderr).toMatch(/^QUEUE +COST \(EUR\)/);
    expect(printed.stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'QUEUE',
      'gpu',
      'default',
      'total',
      '',
    ]);
    const advice = await runSvc(['cost', '--dag', 'costly', '--advice', '--json'], { env });
    expect(JSON.parse(advice.stdout)).toHaveLength(2);
    expect((await runSvc(['cost', '--since', 'yesterday'], { env })).code).toBe(2);
    rmSync(directory, { recursive: true, force: true });
  });
});

describe('advice from the last runs', () => {
  const usage = (parts: object) => ({
    task_id: 'load',
    version_number: 14,
    tries: 15,
    memory_max: 300 * 2 ** 20,
    memory_p95: 280 * 2 ** 20,
    cpus_p95: 0.42,
    seconds_median: 100,
    ...parts,
  });

  it('names the version that made a task slower, but not a difference of a few tries', () => {
    const slower = usage({ version_number: 15, seconds_median: 140 });
    const text = 'version 15 is 40 % slower than 14 in task load';
    expect(advise([usage({}), slower], new Map())[0]?.advice).toEqual([{ code: 'slower_version', text }]);
    expect(advise([usage({}), { ...slower, tries: 2 }], new Map())[0]?.advice).toEqual([]);
  });

  it('warns of a request below the peak, because the task may be killed', () => {
    const asked = new Map([['load', { cpu: null, memory: '256Mi' }]]);
    expect(advise([usage({})], asked)[0]).toMatchObject({
      suitable: { cpu: '500m', memory: '384Mi' },
      advice: [{ code: 'memory_under_requested' }],
    });
  });
});
