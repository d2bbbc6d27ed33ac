import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';
import type { SpawnedSvc } from '@svc/testing/cli/spawn-svc.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { placePreparedCluster } from '@svc/testing/postgres/prepared-cluster.ts';
import { freePort } from '@svc/testing/services/free-port.ts';

/** Real processes start, stop and time out in each test, and the machine may be busy. */
const PATIENCE_MS = 300_000;
const soon = { timeout: 120_000, interval: 200 };

let directory: string;
/** Of this test alone: on the usual one another lite could listen between a kill and the next start. */
let agentPort: number;
let lite: SpawnedSvc;

/** Each task leaves its process id in a file of its name, and then waits for the file `go` that the test makes. */
const DAGS = `
import os, signal, time
from datetime import timedelta
from airflow.sdk import DAG, task

MARKS = os.environ["MARKS"]

def wait_for_go(name):
    with open(f"{MARKS}/{name}", "a") as file:
        file.write(f"{os.getpid()}\\n")
    print("waiting", flush=True)
    while not os.path.exists(f"{MARKS}/go"):
        time.sleep(0.1)

with DAG("work", schedule=None):
    @task(retries=3, retry_delay=timedelta(seconds=1))
    def with_retries():
        wait_for_go("with_retries")

    @task
    def follows():
        pass

    @task
    def without_retries():
        wait_for_go("without_retries")

    with_retries() >> follows()
    without_retries()

with DAG("deaf", schedule=None):
    @task
    def ignores_signals():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        wait_for_go("ignores_signals")

    ignores_signals()
`;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'svc-stop-'));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'workspace'));
  mkdirSync(join(directory, 'marks'));
  chmodSync(join(directory, 'marks'), 0o777); // tasks may run as another user than this test
  writeFileSync(join(directory, 'workspace', 'dags.py'), DAGS);
  writeFileSync(join(directory, 'workspace', 'broken.py'), 'from airflow.sdk import DAG\nthis is not python\n');
  agentPort = await freePort();
  await placePreparedCluster(join(directory, 'data', 'postgres'));
  lite = await started();
  // A busy machine may not have compiled them by the end of the start.
  for (const dag of ['work', 'deaf']) await eventually(() => api('PATCH', `/dags/${dag}`, { is_paused: false }));
}, PATIENCE_MS);

afterAll(async () => {
  appendFileSync(mark('go'), '');
  lite.kill('SIGTERM');
  await lite.ended;
  rmSync(directory, { recursive: true, force: true });
}, PATIENCE_MS);

async function started(): Promise<SpawnedSvc> {
  const argv = ['lite', join(directory, 'workspace'), '--port', '0', '--data-dir', join(directory, 'data')];
  // A busy machine may take long to start: what was killed must not count as lost meanwhile.
  const process = spawnSvc(argv, {
    MARKS: join(directory, 'marks'),
    SVC_SCHEDULER_ATTEMPT_LEASE: '10m',
    SVC_SERVER_GRPC_ADDR: `127.0.0.1:${agentPort}`,
  });
  await process.until('Ctrl-C');
  return process;
}

const mark = (name: string): string => join(directory, 'marks', name);
const pidsOf = (task: string): number[] =>
  existsSync(mark(task)) ? readFileSync(mark(task), 'utf8').split('\n').filter(Boolean).map(Number) : [];
const postgresPid = (): number =>
  Number.parseInt(readFileSync(join(directory, 'data', 'postgres', 'postmaster.pid'), 'utf8'), 10);

/** Not `kill -0`: an orphan whose new parent does not collect it would look alive for ever. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

let token: string | undefined;

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const url = /^URL\s+(\S+)$/m.exec(lite.output())?.[1] ?? '';
  token ??= await login(url);
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  return (await response.json()) as T;
}

async function login(url: string): Promise<string> {
  const password = readFileSync(join(directory, 'data', 'secrets', 'admin-password'), 'utf8').trim();
  const response = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin@localhost', password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

type Instance = {
  state: string | null;
  try_number: number;
  failure_reason: string | null;
  failure_detail: string | null;
};

const instance = (dag: string, run: string, task: string): Promise<Instance> =>
  api('GET', `/dags/${dag}/dagRuns/${run}/taskInstances/${task}`);

async function runUntilItWaits(dag: string, run: string, tasks: readonly string[]): Promise<void> {
  const before = tasks.map((task) => pidsOf(task).length);
  await api('POST', `/dags/${dag}/dagRuns`, { dag_run_id: run });
  await expect.poll(() => tasks.every((task, index) => pidsOf(task).length > (before[index] ?? 0)), soon).toBe(true);
}

it('svc lite starts with a broken DAG file beside good ones, and says which and where', async () => {
  // On a busy machine, what takes longer than the start is compiled while lite runs, and the API has the rest.
  expect(lite.output()).toMatch(/\d DAGs? in the workspace, /);
  type Errors = { import_errors: { filename: string; stack_trace: string }[] };
  const { import_errors: errors } = await eventually(async () => {
    const found = await api<Errors>('GET', '/importErrors');
    return found.import_errors.length > 0 && found;
  });
  expect(errors).toMatchObject([{ filename: 'broken.py', stack_trace: expect.stringContaining('broken.py:2: ') }]);
  const isComplete = !lite.output().includes('still being compiled');
  const told = isComplete ? ['2 DAGs in the workspace', 'broken.py:2: '] : [];
  expect(told.filter((words) => !lite.output().includes(words))).toEqual([]);
});

// One installation through its life: the tests follow each other.
describe('svc lite with running tasks', { timeout: PATIENCE_MS }, () => {
  it('at Ctrl-C tells them to stop, says why, leaves no process behind, and goes on with the run at the next start', async () => {
    await runUntilItWaits('work', 'stopped', ['with_retries', 'without_retries']);
    const processes = [postgresPid(), ...pidsOf('with_retries'), ...pidsOf('without_retries')];
    const before = lite.output().length;
    lite.kill('SIGINT');
    expect(await lite.ended).toBe(0);
    const said = lite.output().slice(before);
    expect(said).toContain('Stopped.');
    expect(said).not.toMatch(/WARN|ERROR/);
    expect(processes.filter(isRunning)).toEqual([]);

    lite = await started();
    const ended = await instance('work', 'stopped', 'without_retries');
    expect(ended).toMatchObject({ state: 'failed', try_number: 1 });
    expect(ended.failure_detail).toContain('the attempt was stopped');
    await expect.poll(() => pidsOf('with_retries').length, soon).toBe(2);
    writeFileSync(mark('go'), '');
    await expect.poll(async () => (await instance('work', 'stopped', 'follows')).state, soon).toBe('success');
    expect(await instance('work', 'stopped', 'with_retries')).toMatchObject({ state: 'success', try_number: 2 });
    rmSync(mark('go'));
  });

  it('killed with -9 does not lose them: they go on, and the next start hears how they ended', async () => {
    await runUntilItWaits('work', 'killed', ['with_retries', 'without_retries']);
    lite.kill('SIGKILL');
    await lite.ended;
    lite = await started();
    expect(isRunning(pidsOf('without_retries').at(-1) ?? 0)).toBe(true);
    writeFileSync(mark('go'), '');
    for (const task of ['without_retries', 'follows']) {
      await expect.poll(async () => (await instance('work', 'killed', task)).state, soon).toBe('success');
    }
    expect(await instance('work', 'killed', 'without_retries')).toMatchObject({ try_number: 1 });
    rmSync(mark('go'));
  });

  it('ends at once at a second Ctrl-C, and then those go too that do not listen', async () => {
    await runUntilItWaits('deaf', 'forced', ['ignores_signals']);
    const [deaf = 0] = pidsOf('ignores_signals');
    const postgres = postgresPid();
    lite.kill('SIGINT');
    await lite.until('Ctrl-C again');
    lite.kill('SIGINT');
    expect(await lite.ended).toBe(130);
    await expect.poll(() => [deaf, postgres].filter(isRunning), soon).toEqual([]);
  });
});
