/** A run has the files of the commit with which it was created, whatever is pushed while it runs. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '@svc/testing/chaos/random.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { SEED } from '@svc/testing/seed.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import type { GitRepository } from '@svc/testing/server/git-repository.ts';
import { startLiveServer } from '@svc/testing/server/live-server.ts';
import type { LiveServer } from '@svc/testing/server/live-server.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let folder: string;
let repository: GitRepository;
let live: LiveServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-code-archives-'));
  repository = createGitRepository();
  live = await startLiveServer({ 'bundles.allowed_paths': tmpdir() }, [], {
    XDG_CACHE_HOME: join(folder, 'cache'),
    SVC_PYTHON: await pythonEnvironment(),
  });
});
afterAll(async () => {
  await live?.close();
  repository?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Its second task waits for a file, so that commits arrive while the run is between its tasks or within one. */
const dagText = (constant: string): string => `
import os, time
from airflow.sdk import dag, task

HERE = os.path.dirname(__file__)

def seen():
    from shared.values import VALUE
    with open(os.path.join(HERE, "..", "include", "data.txt")) as file:
        data = file.read()
    with open(os.path.join(HERE, "..", "link.txt")) as file:
        linked = file.read()
    return ["${constant}", VALUE, data, linked]

@dag(schedule=None, max_active_runs=100)
def files():
    @task
    def first():
        return seen()

    @task
    def second(run_id=None):
        while not os.path.exists(os.path.join("${folder}", "gate-" + run_id)):
            time.sleep(0.05)
        return seen()

    first() >> second()

files()
`;

type Value = { value: string[] };
const valueOf = async (runId: string, task: string): Promise<string[]> =>
  (await live.api<Value>('GET', `/dags/files/dagRuns/${runId}/taskInstances/${task}/xcomEntries/return_value`)).value;

async function sync(): Promise<void> {
  await live.api('POST', '/bundles/etl/sync');
  await eventually(async () => {
    const { sync: state } = await live.api<{
      sync: { state: string; text: string; requested: number; answered: number };
    }>('GET', '/bundles/etl');
    if (state.state === 'refused' || state.state === 'failed') throw new Error(state.text);
    return state.answered >= state.requested && state.state === 'done';
  });
}

it(
  'every attempt runs exactly the files of its run while commits arrive, and clearing keeps or moves them',
  { timeout: IS_NIGHTLY ? 1_800_000 : 400_000 },
  async () => {
    const random = createRandom(SEED);
    const commits = IS_NIGHTLY ? 200 : 3;
    const state = { constant: 'c0', VALUE: 'v0', data: 'd0' };
    const expected = new Map<string, string[]>();
    symlinkSync('include/data.txt', join(repository.checkout, 'link.txt'));
    for (let number = 0; number < commits; number += 1) {
      const what = number === 0 ? 'all' : random.pick(['constant', 'VALUE', 'data', 'all'] as const);
      for (const name of what === 'all' ? (['constant', 'VALUE', 'data'] as const) : [what])
        state[name] = `${name}${number}`;
      repository.push({
        'dags/files.py': dagText(state.constant),
        'plugins/.keep': '',
        'dags/shared/__init__.py': '',
        'dags/shared/values.py': `VALUE = "${state.VALUE}"\n`,
        'include/data.txt': state.data,
      });
      if (number === 0) {
        await live.api('POST', '/bundles', { name: 'etl', kind: 'git', url: repository.url, poll_seconds: 0 });
        await sync();
        await live.api('PATCH', '/dags/files', { is_paused: false });
      } else await sync();
      const runId = `run-${number}`;
      await live.trigger('files', { dag_run_id: runId });
      expected.set(runId, [state.constant, state.VALUE, state.data, state.data]);
      if (random.below(2) === 0) openGate(runId);
    }
    for (const runId of expected.keys()) openGate(runId);
    for (const [runId, values] of expected) {
      expect((await live.ended('files', runId)).state).toBe('success');
      expect([runId, await valueOf(runId, 'first'), await valueOf(runId, 'second')]).toEqual([runId, values, values]);
    }

    const last = expected.get(`run-${commits - 1}`);
    await clear('run-0', false);
    expect(await valueOf('run-0', 'second')).toEqual(expected.get('run-0'));
    await clear('run-0', true);
    expect(await valueOf('run-0', 'second')).toEqual(last);
  },
);

function openGate(runId: string): void {
  writeFileSync(join(folder, `gate-${runId}`), '');
}

async function clear(runId: string, onLatest: boolean): Promise<void> {
  await live.api('POST', '/dags/files/clearTaskInstances', {
    dag_run_id: runId,
    dry_run: false,
    only_failed: false,
    reset_dag_runs: true,
    run_on_latest_version: onLatest,
  });
  expect((await live.ended('files', runId)).state).toBe('success');
}

it('an agent keeps each file once, and read-only', async () => {
  const code = join(folder, 'cache', 'svc', 'code');
  const trees = readdirSync(join(code, 'trees'));
  expect(trees.length).toBeGreaterThan(1);
  expect(trees.every((name) => existsSync(join(code, 'trees', name, 'dags', 'files.py')))).toBe(true);
  const files = readdirSync(join(code, 'files'));
  expect(files.every((name) => (statSync(join(code, 'files', name)).mode & 0o222) === 0)).toBe(true);
  // Of five files, a commit changes at most three.
  expect(files.length).toBeLessThanOrEqual(5 + 3 * (trees.length - 1));
});
