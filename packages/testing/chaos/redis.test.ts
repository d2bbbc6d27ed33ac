/** Tasks hand on large values in two servers while Redis is killed, held and emptied: nothing is lost, nothing is stale. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { SEED } from '../seed.ts';
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';
import { startServerProcess } from '../server/server-process.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { startRedis } from '../services/redis.ts';
import type { TestRedis } from '../services/redis.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { createRandom } from './random.ts';

const RUNS = 4;
const ROUNDS = 6;
const BYTES = 200_000;

/** Each round overwrites the value and reads it back; who comes after must see the last one. */
const DAG = `
from airflow.sdk import dag, task, get_current_context

@dag(schedule=None)
def hand_over():
    @task
    def write():
        ti = get_current_context()["ti"]
        for round in range(${ROUNDS}):
            value = f"{ti.run_id} {round} ".ljust(${BYTES}, ".")
            ti.xcom_push(key="shared", value=value)
            assert ti.xcom_pull(task_ids="write", key="shared") == value, f"stale in round {round}"
        return "returned by " + ti.run_id.ljust(${BYTES}, ".")

    @task
    def read(returned):
        ti = get_current_context()["ti"]
        assert returned == "returned by " + ti.run_id.ljust(${BYTES}, ".")
        shared = ti.xcom_pull(task_ids="write", key="shared")
        assert shared.startswith(f"{ti.run_id} ${ROUNDS - 1} "), shared[:80]
        return shared

    read(write())

hand_over()
`;

let redis: TestRedis;
let drop: () => Promise<void>;
let live: LiveServer;
let second: ServerProcess;
let logs: string;

beforeAll(async () => {
  const [started, database, python] = await Promise.all([startRedis(), createTestDatabase(), pythonEnvironment()]);
  redis = started;
  drop = database.drop;
  logs = await mkdtemp(join(tmpdir(), 'svc-redis-logs-')); // has the large values, which both servers read
  const settings = {
    'database.url': database.url,
    'redis.url': redis.url(),
    'executor.type': 'subprocess',
    'logs.dir': logs,
    python,
  };
  live = await startLiveServer(settings);
  second = await startServerProcess({ settings });
  await second.untilReady();
  await live.addDag('hand_over', DAG);
}, 400_000);
afterAll(async () => {
  await second?.stop();
  await live?.close();
  await redis?.close();
  await drop?.();
  await rm(logs, { recursive: true, force: true });
});

it('every run succeeds, and both servers show what the tasks wrote last', async () => {
  const random = createRandom(SEED);
  const faults = {
    killed: async () => {
      await redis.stop();
      await sleep(random.below(300));
      await redis.start();
    },
    held: async () => {
      redis.hold();
      await sleep(random.below(1_500));
      redis.letGo();
    },
    emptied: async () => void redis.cli('FLUSHALL'),
  };
  const ended = Promise.all(
    Array.from({ length: RUNS }, async () => {
      const runId = await live.trigger('hand_over');
      return { runId, state: (await live.ended('hand_over', runId, 200)).state };
    }),
  );
  const done: string[] = [];
  const isOver = ended.then(() => true);
  // A quick machine may be through before the first that the servers notice.
  while (!(await Promise.race([isOver, sleep(random.below(400), false)])) || !done.includes('killed')) {
    const fault = random.pick(['killed', 'held', 'emptied'] as const);
    await faults[fault]();
    done.push(fault);
  }
  const runs = await ended;
  expect(runs.map(({ state }) => state)).toEqual(runs.map(() => 'success'));
  expect(done).toContain('killed');

  for (const { runId } of runs) {
    const path = `/dags/hand_over/dagRuns/${encodeURIComponent(runId)}/taskInstances/read/xcomEntries/return_value`;
    const expected = `${runId} ${ROUNDS - 1} `.padEnd(BYTES, '.');
    for (const url of [live.url, second.url]) {
      const answer = await fetch(`${url}/api/v2${path}`, { headers: { authorization: `Bearer ${live.token}` } });
      expect(((await answer.json()) as { value: string }).value).toBe(expected);
    }
  }
  const logs = (): string => [...live.logLines(), ...second.logLines()].join('\n');
  await eventually(() => expect(logs()).toContain('Redis is away'));
  expect(logs()).not.toMatch(/"level":"(?:error|fatal)"/);
}, 400_000);
