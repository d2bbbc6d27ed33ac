/** Lite while the machine's clock is set an hour ahead, and back: running tasks go on, nothing runs twice, no time is negative. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSettableClock } from '@svc/testing/cli/settable-clock.ts';
import type { SettableClock } from '@svc/testing/cli/settable-clock.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { EVENTUALLY, startLite } from '@svc/testing/web-ui/lite-instance.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';
import type { LiteInstance } from '@svc/testing/web-ui/lite-instance.ts';
import { readClaims } from '../client/token-claims.ts';

const TIMEOUT_MS = 600_000;
const HOUR = 3_600;
/** One waits for a person, who makes a file; one is due at every full minute. */
const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'));
const DAGS = `
import pathlib, time
from datetime import datetime, timedelta
from airflow.sdk import dag, task

@dag(schedule=None, is_paused_upon_creation=False)
def patient():
    @task(retries=3, retry_delay=timedelta(seconds=1))
    def wait(run_id=None):
        while not pathlib.Path(${JSON.stringify(folder)}, run_id).exists():
            time.sleep(0.1)

    @task
    def after():
        pass

    wait() >> after()

patient()

@dag(schedule="* * * * *", start_date=datetime(2026, 1, 1), catchup=False, is_paused_upon_creation=False)
def minutely():
    @task
    def tick():
        pass

    tick()

minutely()
`;

let lite: LiteInstance;
let clock: SettableClock;
/** Of somebody who has logged in since the clock was set: sessions end by the clock. */
let api: Api;

beforeAll(async () => {
  chmodSync(folder, 0o755); // tasks may run as another user
  clock = createSettableClock({ directory: folder, python: await pythonEnvironment() });
  lite = await startLite({ examples: [], dags: { 'clock/dag.py': DAGS }, env: clock.env });
  ({ api } = lite);
}, TIMEOUT_MS);
afterAll(async () => {
  await lite?.stop();
  rmSync(folder, { recursive: true, force: true });
}, TIMEOUT_MS);

type Run = { run_after: string; state: string; duration: number | null };
type Instance = { task_id: string; state: string; try_number: number; duration: number | null };

const path = (runId: string): string => `/dags/patient/dagRuns/${runId}`;
const instances = async (runId: string): Promise<Instance[]> =>
  (await api<{ task_instances: Instance[] }>('GET', `${path(runId)}/taskInstances?order_by=start_date`)).task_instances;

/** Each process looks once a second at what the clock was set to: a token of before would end at once an hour later. */
const logIn = (seconds: number): Promise<string> =>
  eventually(async () => {
    const token = await lite.login();
    const ahead = (readClaims(token)?.issuedAt ?? 0) - Date.now() / 1_000;
    if (Math.abs(ahead - seconds) > HOUR / 2) throw new Error(`the server is still ${ahead} s ahead`);
    return token;
  });

/** A run in whose first task the clock is set. Answers with when that was, and when everybody had noticed. */
async function expectToGoOn(runId: string, seconds: number): Promise<{ setAt: number; noticedAt: number }> {
  await api('POST', '/dags/patient/dagRuns', { dag_run_id: runId });
  await expect
    .poll(async () => (await instances(runId)).find((row) => row.task_id === 'wait')?.state, EVENTUALLY)
    .toBe('running');
  const warnings = lite.output().split('clock of the database was set').length;
  const setAt = Date.now();
  clock.set(seconds);
  await expect
    .poll(() => lite.output().split('clock of the database was set').length, EVENTUALLY)
    .toBeGreaterThan(warnings);
  api = lite.apiAs(await logIn(seconds));
  const noticedAt = Date.now();
  writeFileSync(join(folder, runId), '');
  const state = async (): Promise<string> => (await api<Run>('GET', path(runId))).state;
  await expect.poll(state, EVENTUALLY).toBe('success');
  const ended = await instances(runId);
  expect(ended.map((row) => [row.task_id, row.try_number])).toEqual(
    expect.arrayContaining([
      ['wait', 1],
      ['after', 1],
    ]),
  );
  for (const { duration } of [...ended, await api<Run>('GET', path(runId))]) expect(duration).toBeGreaterThanOrEqual(0);
  return { setAt, noticedAt };
}

/** When they were due, the oldest first. */
const scheduled = async (): Promise<number[]> =>
  (await api<{ dag_runs: Run[] }>('GET', '/dags/minutely/dagRuns?limit=1000&order_by=run_after')).dag_runs.map((run) =>
    Date.parse(run.run_after),
  );

it(
  'set ahead, tasks that run go on with their credentials, and what was due meanwhile runs once',
  async () => {
    const { setAt, noticedAt } = await expectToGoOn('ahead', HOUR);
    const runs = await scheduled();
    // Without catchup: of the sixty that were jumped over only the last one.
    const jumpedOver = runs.filter((at) => at > noticedAt + 5_000 && at < setAt + HOUR * 1_000);
    expect(jumpedOver.length).toBeLessThanOrEqual(1);
    expect(new Set(runs).size).toBe(runs.length);
  },
  TIMEOUT_MS,
);

it(
  'set back, tasks that run go on, new ones run, and no scheduled run comes a second time',
  async () => {
    const before = await scheduled();
    await expectToGoOn('back', 0);
    const after = await scheduled();
    // The next minute may have been full before the clock was set; no other time comes after those that were there.
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after).size).toBe(after.length);
  },
  TIMEOUT_MS,
);
