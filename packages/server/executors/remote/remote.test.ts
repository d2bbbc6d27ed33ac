/** Workers of other hosts as people start them: `svc-agent work --server …`, processes of their own, killed, drained, sent away. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { endsWithThisProcess } from '@svc/testing/ends-with-this-process.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { ADMIN_EMAIL, startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

/** Bodies tell what they do through files: the workers of this test are on the same machine. */
const DAG = (folder: string): string => `
import os, time
from datetime import timedelta
from pathlib import Path
from airflow.sdk import DAG, get_current_context, task
from svc import step

HERE = Path(${JSON.stringify(folder)})

def go_through(name):
    (HERE / f"{name}.began").write_text("1")
    while not (HERE / f"{name}.gate").exists():
        time.sleep(0.02)

@step
def fetch():
    with open(HERE / f"{get_current_context()['run_id']}.fetched", "a") as file:
        file.write("once ")
    return 7

with DAG("flow", schedule=None, default_args={"retries": 1, "retry_delay": timedelta(seconds=0)}):

    @task
    def local():
        return os.environ.get("SVC_AGENT_TOKEN", "no token")

    @task(queue="gpu")
    def train():
        fetched = fetch()
        go_through("train")
        return fetched

    @task(queue="big", executor="remote")
    def crunch():
        go_through("crunch")

    local()
    train()
    crunch()

with DAG("gpu_only", schedule=None):
    @task(queue="gpu")
    def infer():
        return 1
    infer()
`;

type Instance = {
  task_id: string;
  state: string | null;
  hostname: string;
  executor: string | null;
  queue: string;
  try_number: number;
  wait_reason: string | null;
};
type Agent = { process: ChildProcess; said(): string; ended: Promise<number | string> };

let folder: string;
let server: TestServer;
let admin: string;
let address: string;
let python: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-remote-'));
  python = await pythonEnvironment();
  vi.stubEnv('SVC_PYTHON', python); // of the worker that the control plane starts
  server = await startTestServer({
    'executor.type': 'subprocess,remote',
    'executor.remote-queues': ['gpu'],
    'scheduler.attempt-lease': '25s', // a worker on a busy machine may say nothing for some seconds
  });
  admin = await server.login();
  const line = server.logLines.find((text) => text.includes('agents may connect')) ?? '{}';
  address = (JSON.parse(line) as { address: string }).address;
  const compiler = createCompiler({ python });
  const path = join(folder, 'flow.py');
  writeFileSync(path, DAG(folder));
  const answer = await compiler.compile({ path, dagsFolder: folder });
  await compiler.close();
  if (!answer.ok) throw new Error(answer.error.message);
  for (const { dag_id: dagId, spec } of answer.dags) {
    await call('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: path });
    await call('PATCH', `/dags/${dagId}`, { is_paused: false });
  }
}, 400_000);
const agents: Agent[] = [];
afterAll(async () => {
  for (const { process } of agents) process.kill('SIGKILL');
  await server?.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

async function call<T>(method: string, path: string, body?: object, token = admin): Promise<T> {
  const answer = await server.call(`/api/v2${path}`, { method, token, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.text === '' ? (undefined as T) : answer.json<T>();
}

const createToken = (body: object, token?: string): Promise<{ id: string; token: string }> =>
  call('POST', '/workerTokens', body, token);

function startAgent(token: string, ...more: string[]): Agent {
  const file = join(folder, `token-${agents.length}`);
  writeFileSync(file, token);
  const args = [join(ROOT, 'bin', 'svc-agent'), 'work', '--server', address, '--token-file', file, ...more];
  const child = spawn(args[0] ?? '', args.slice(1), {
    env: { PATH: process.env['PATH'], HOME: folder, SVC_PYTHON: python },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const agent = { process: child, said: () => text, ended };
  agents.push(agent);
  return agent;
}

type Shown = { id: string; name: string; state: string; queues: string[]; running: number; ended_why: string | null };
const worker = async (name: string): Promise<Shown | undefined> =>
  (await call<{ workers: Shown[] }>('GET', `/workers?kind=remote&name=${name}`)).workers[0];
const hasState = (name: string, ...states: string[]) =>
  eventually(async () => states.includes((await worker(name))?.state ?? ''), { withinMs: 120_000 });

const trigger = async (dagId: string): Promise<string> =>
  (await call<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, { logical_date: null })).dag_run_id;
async function instance(dagId: string, runId: string, taskId: string): Promise<Instance> {
  return call('GET', `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}`);
}
async function whyWaiting(dagId: string, runId: string, taskId: string): Promise<string> {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${taskId}/dependencies`;
  const { dependencies } = await call<{ dependencies: { reason: string }[] }>('GET', path);
  return dependencies.map(({ reason }) => reason).join('; ');
}
const reaches = (dagId: string, runId: string, taskId: string, state: string) =>
  eventually(async () => (await instance(dagId, runId, taskId)).state === state, { withinMs: 120_000 });
const began = (name: string) => eventually(() => existsSync(join(folder, `${name}.began`)), { withinMs: 120_000 });
function open(name: string): void {
  writeFileSync(join(folder, `${name}.gate`), '');
}
function forget(name: string): void {
  for (const end of ['began', 'gate']) rmSync(join(folder, `${name}.${end}`), { force: true });
}

describe('joining', () => {
  it('is refused in words with a forged, a revoked or another token, and for a queue the token is not for', async () => {
    const made = await createToken({ queues: ['gpu'] });
    const forged = `${made.token.slice(0, -1)}${made.token.endsWith('a') ? 'b' : 'a'}`;
    const revoked = await createToken({ queues: ['gpu'] });
    await call('DELETE', `/workerTokens/${revoked.id}`);
    const expired = await createToken({ queues: ['gpu'], expires_in: 60 });
    await server.db
      .tenant(
        (
          await server.db.shared
            .selectFrom('tenants')
            .select('id')
            .where('name', '=', 'default')
            .executeTakeFirstOrThrow()
        ).id,
      )
      .updateTable('worker_tokens')
      .set({ expires_at: new Date(0) })
      .where('id', '=', expired.id)
      .execute();
    const tries = [
      [startAgent(forged), 'unknown, or was revoked'],
      [startAgent(revoked.token), 'unknown, or was revoked'],
      [startAgent(expired.token), 'has expired'],
      [startAgent(made.token, '--queue', 'gpu,payroll'), 'for the queues gpu, not for payroll'],
    ] as const;
    for (const [agent, words] of tries) {
      expect(await agent.ended).toBe(2);
      await eventually(() => expect(agent.said()).toContain(words)); // what it has said may be read after its end
    }
  }, 400_000);
});

describe('remote workers', () => {
  it('run the tasks of their queues only; a queue that nobody serves holds up nobody, and says so', async () => {
    const run = await trigger('flow');
    await reaches('flow', run, 'local', 'success');
    await eventually(async () => {
      const waiting = await instance('flow', run, 'crunch');
      expect(waiting).toMatchObject({ state: 'scheduled', executor: 'remote', queue: 'big' });
      expect(waiting.wait_reason).toContain('it is for a remote worker of queue big');
    });
    expect(await whyWaiting('flow', run, 'crunch')).toContain('none is connected, start one with a token');

    const gpu = await createToken({ queues: ['gpu'], comment: 'rack 4' });
    const big = await createToken({ queues: ['big'] });
    const first = startAgent(gpu.token, '--name', 'gpu-1');
    const drained = startAgent(big.token, '--name', 'big-1', '--slots', '2');
    await Promise.all([began('train'), began('crunch')]);
    expect((await instance('flow', run, 'train')).hostname).toBe('gpu-1');
    expect((await instance('flow', run, 'crunch')).hostname).toBe('big-1');
    await hasState('gpu-1', 'busy');
    await eventually(async () => {
      const health = await call<{ workers: { kind: string; state: string }[] }>('GET', '/monitor/health');
      expect(health.workers.map(({ kind, state }) => `${kind} ${state}`)).toEqual(
        expect.arrayContaining(['remote busy', expect.stringMatching(/^local /)]),
      );
      expect(await (await fetch(String(server.metricsUrl))).text()).toMatch(
        /svc_workers\{kind="remote",pool="gpu",state="busy"\} 1/,
      );
    });

    // Killed: what it ran is tried again within the lease, by a worker of the same queue and no other.
    rmSync(join(folder, 'train.began'));
    first.process.kill('SIGKILL');
    await hasState('gpu-1', 'lost');
    startAgent(gpu.token, '--name', 'gpu-2');
    await began('train');
    expect(await instance('flow', run, 'train')).toMatchObject({
      hostname: 'gpu-2',
      try_number: 2,
      state: 'running',
      infrastructure_retries: 1,
      max_tries: 2, // one of the author, and one for the loss
    });

    // Drained: it ends what it runs, takes no more, and leaves.
    const big1 = await worker('big-1');
    await call('POST', `/workers/${big1?.id}/drain`, { why: 'new driver' });
    await eventually(() => drained.said().includes('leaving: drained by'), { withinMs: 120_000 });
    expect((await instance('flow', run, 'crunch')).state).toBe('running');
    const later = await trigger('flow');
    await reaches('flow', later, 'local', 'success'); // claimed after the other one's crunch could have been
    expect((await instance('flow', later, 'crunch')).state).toBe('scheduled');
    open('crunch');
    expect(await drained.ended).toBe(0);
    await reaches('flow', run, 'crunch', 'success');
    await hasState('big-1', 'gone');
    expect((await worker('big-1'))?.ended_why).toContain('new driver');
    open('train');
    await reaches('flow', run, 'train', 'success');
    // The step that the killed worker had ended was not computed again by the other one.
    expect(readFileSync(join(folder, `${run}.fetched`), 'utf8')).toBe('once ');
    const [entry] = (
      await call<{ task_state_store: { key: string; value: { result: number } }[] }>(
        'GET',
        `/dags/flow/dagRuns/${encodeURIComponent(run)}/taskInstances/train/state-store`,
      )
    ).task_state_store;
    expect(entry).toMatchObject({ key: expect.stringContaining('svc.step:fetch:') as string, value: { result: 7 } });
    await call('PATCH', `/dags/flow/dagRuns/${encodeURIComponent(later)}`, { state: 'failed' });
    forget('train');
  }, 400_000);

  it('of another tenant get nothing of this one, and of a revoked token nothing more', async () => {
    await server.addUser({ email: ADMIN_EMAIL, roles: ['admin'], tenant: 'other' });
    const foreign = await createToken({ queues: ['gpu'] }, await server.login(ADMIN_EMAIL, 'other'));
    const stranger = startAgent(foreign.token, '--name', 'foreign');
    await eventually(() => stranger.said().includes('joined'), { withinMs: 120_000 });
    const gpu2 = await worker('gpu-2');
    expect(await worker('foreign')).toBeUndefined(); // nor is it seen
    // Its own is revoked: it leaves, and nobody of the tenant is left who serves the queue.
    const { worker_tokens: tokens } = await call<{ worker_tokens: { id: string; comment: string }[] }>(
      'GET',
      '/workerTokens',
    );
    const used = tokens.find(({ comment }) => comment === 'rack 4');
    await call('DELETE', `/workerTokens/${used?.id}`);
    const gone = agents.find((agent) => agent.said().includes(gpu2?.id ?? 'nobody'));
    expect(await gone?.ended).toBe(0);
    await eventually(() => expect(gone?.said()).toContain('revoked'));
    const run = await trigger('gpu_only');
    await reaches('gpu_only', run, 'infer', 'scheduled');
    // Whoever could have taken it had the time it takes another one to start.
    startAgent((await createToken({ queues: ['gpu'] })).token, '--name', 'gpu-3');
    await reaches('gpu_only', run, 'infer', 'success');
    expect((await instance('gpu_only', run, 'infer')).hostname).toBe('gpu-3');
    expect(stranger.process.exitCode).toBeNull();
  }, 400_000);
});
