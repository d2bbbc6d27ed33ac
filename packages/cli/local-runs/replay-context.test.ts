/** What the task of a replay sees of its try, and the tests that `svc replay --to-test` writes, run by pytest. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DagRun } from '@svc/client/wire-types.ts';
import { startLiveServer } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { wheelEnvironment } from '@svc/testing/wheel-environment.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** `show` raises what it sees, in a try that is tried again, so a replay has to raise the same text. */
const SEEN = `
import json, os, signal, time
from datetime import timedelta
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import Asset, Param, dag, task

ORDERS = Asset("orders")

@dag(schedule=None)
def maker():
    @task(outlets=[ORDERS])
    def make(outlet_events=None):
        outlet_events[ORDERS].extra = {"rows": 3}
    make()

@dag(schedule=[ORDERS], params={"size": Param(5, type="integer")})
def seen():
    @task(retries=2, retry_delay=timedelta(hours=1))
    def show(ti=None, dag_run=None, params=None, triggering_asset_events=None, prev_start_date_success=None):
        [events] = triggering_asset_events.values()
        raise ValueError(json.dumps({
            "run": [dag_run.run_id, dag_run.run_type, dag_run.run_after, dag_run.start_date, dag_run.triggering_user_name],
            "interval": [dag_run.data_interval_start, dag_run.data_interval_end],
            "try": [ti.try_number, ti.max_tries, ti.map_index],
            "params": dict(params),
            "events": [[e.asset.name, e.extra, e.timestamp, e.source_dag_id, e.source_run_id] for e in events],
            "previous": prev_start_date_success,
        }, default=str))
    @task
    def killed():
        os.kill(os.getpid(), signal.SIGKILL)
    @task
    def after(): ...
    @task
    def blocked(): ...
    hosts = BashOperator(task_id="hosts", bash_command="echo {{ var.value.get('host', 'none') }} {{ ti.try_number }}; exit 4")
    show() >> after()
    killed() >> blocked()
    hosts

@dag(schedule=None, max_active_tasks=1)
def queue():
    for name in ("one", "other"):
        @task(task_id=name)
        def work():
            time.sleep(1.2)  # a wait of less than a second is not named
        work()

maker()
seen()
queue()
`;

let live: LiveServer;
let folder: string;
let runId: string;
/** The exception of `show` in the log of the control plane. */
let seenThere: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-replay-context-'));
  writeFileSync(join(folder, 'seen.py'), SEEN);
  live = await startLiveServer();
  await live.server.call('/api/v2/variables', {
    method: 'POST',
    token: live.env['SVC_TOKEN'] ?? '',
    body: { key: 'host', value: 'db.example' },
  });
  const { code, stderr } = await live.svc('deploy', folder, '--all');
  if (code !== 0) throw new Error(stderr);
  for (const dag of ['seen', 'maker', 'queue']) await live.svc('dags', 'unpause', dag);
  await live.svc('runs', 'trigger', 'maker');
  await live.svc('runs', 'trigger', 'queue', '--run-id', 'q1');
  const runs = () => live.jsonOf<DagRun[]>('runs', 'list', 'seen');
  const [run] = await live.until(runs, ([first]) => first !== undefined);
  runId = run?.dag_run_id ?? '';
  const path = `/api/v2/dags/seen/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
  const states = async () => {
    const { text } = await live.server.call(path, { token: live.env['SVC_TOKEN'] ?? '' });
    const { task_instances: found } = JSON.parse(text) as { task_instances: { task_id: string; state: string }[] };
    return Object.fromEntries(found.map((one) => [one.task_id, one.state]));
  };
  await live.until(
    states,
    ({ show, blocked, hosts }) => show === 'up_for_retry' && blocked === 'upstream_failed' && hosts === 'failed',
  );
  const log = await live.server.call(`${path}/show/logs/1`, { token: live.env['SVC_TOKEN'] ?? '' });
  seenThere = /ValueError: \{.*\}/.exec(log.text)?.[0] ?? '';
});
afterAll(async () => {
  await live?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Shown = {
  tasks: { task_id: string; error: string; line: string | null }[];
  rendered_differences: { field: string; recorded: unknown; replayed: unknown }[];
};

const replay = async (...argv: string[]) => {
  const told = await live.svc('replay', 'seen', ...argv, '--json');
  return { ...told, shown: JSON.parse(told.stdout || 'null') as Shown };
};

describe('the task of a replay', () => {
  it('sees the run, the data interval, the try, the params and the asset events as on the control plane', async () => {
    const { shown } = await replay(runId, 'show');
    expect(shown.tasks[0]?.error).toBe(seenThere);
    expect(seenThere).toContain('"rows": 3');
    expect(seenThere).toContain('asset_triggered');
  });

  it('is the one that failed first, and in the newest run, when none is named', async () => {
    const { code, shown, stderr } = await replay();
    expect({ code, tasks: shown.tasks.length }, stderr).toEqual({ code: 1, tasks: 1 });
    expect(stderr).toMatch(/^svc: (show|killed|hosts) has failed first, of 3 failed instances$/m);
  });

  it('ends by the signal of the try, and is the task that failed before a task that has never started', async () => {
    const { shown, stderr } = await replay(runId, 'blocked');
    expect(stderr).toMatch(/^svc: blocked has never started: upstream_failed: killed is failed \(/m);
    expect(shown.tasks).toMatchObject([{ task_id: 'killed', error: 'the process has ended by signal SIGKILL' }]);
  });

  it('has another template field than the try, which the command names, until it gets the same variable', async () => {
    const without = await replay(runId, 'hosts');
    expect(without.shown.rendered_differences).toEqual([
      { field: 'bash_command', recorded: 'echo db.example 1; exit 4', replayed: 'echo none 1; exit 4' },
    ]);
    const variables = join(folder, 'variables.json');
    writeFileSync(variables, '{"host": "db.example"}');
    const withFile = await replay(runId, 'hosts', '--variables', variables);
    expect(withFile.shown.rendered_differences).toEqual([]);
  });

  it('is not there while it waits for its first start, and the command says what it waits for', async () => {
    const { code, stderr } = await replay(runId, 'after');
    expect(code).toBe(1);
    expect(stderr).toContain('after has never started: waits for upstream tasks');
  });
});

it('the plan of a run names the limit that a try has waited for, from when to when, and the try that held it', async () => {
  await live.until(
    () => live.jsonOf<DagRun>('runs', 'show', 'queue', 'q1'),
    ({ state }) => state === 'success',
  );
  const { stdout } = await live.svc('replay', 'queue', 'q1', '--plan');
  expect(stdout).toMatch(
    /(one|other) waited for max_active_tasks \(1\) from \+\d+\.\d\d s to \+\d+\.\d\d s: held by (one|other)\n/,
  );
  expect(stdout).toContain('The replay ends as the run for 2 of 2 task instances.');
});

it('a test that svc replay has written fails under pytest as the try did, and passes once the DAG is repaired', async () => {
  mkdirSync(join(folder, 'tests'));
  const written = await live.svc('replay', 'seen', runId, 'show', '--to-test', '--path', folder);
  expect(written).toMatchObject({ code: 0 });
  const python = await wheelEnvironment();
  const pytest = () =>
    spawnSync(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'svc_runtime.testing.plugin', 'tests'], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: join(ROOT, 'python'), PYTHONDONTWRITEBYTECODE: '1' },
    });
  const failed = pytest();
  expect(failed.stdout).toContain('1 failed');
  expect(failed.stdout).toContain(`\n${seenThere}\n`);
  const file = join(folder, 'seen.py');
  writeFileSync(file, readFileSync(file, 'utf8').replace('raise ValueError(', 'print('));
  const passed = pytest();
  expect(passed.stdout, passed.stderr).toContain('1 passed');
});
