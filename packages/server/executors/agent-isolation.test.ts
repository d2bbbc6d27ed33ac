import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import type { AttemptOutcome } from '../engine/shared/attempts.ts';
import type { AgentService } from '../agents/agent-service.ts';

const AGENT = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc-agent');

const DAG = `
import os, subprocess, tempfile
from airflow.sdk import dag, task

@dag(schedule=None)
def leaves():
    @task
    def tidy():
        with open(os.path.join(os.environ["HOME"], "svc-left"), "w"):
            pass
        return {"home": os.environ["HOME"], "tmp": tempfile.gettempdir(), "server": os.getppid()}

    @task
    def untidy():
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        return os.getppid()

    @task
    def adds_a_module():
        with open(os.path.join(os.path.dirname(__file__), "svc_added.py"), "w"):
            pass

    tidy(); untidy(); adds_a_module()

leaves()
`;

let harness: AgentHarness;
let service: AgentService;
/** Called between the commit of an attempt's end and the answer to its worker. */
const onEnded = new Map<string, () => void>();
const agents: ChildProcess[] = [];

beforeAll(async () => {
  harness = await startAgentHarness();
  await harness.addDag(harness.tenants.a, 'leaves.py', DAG);
  service = await harness.startService();
  service.observe({ started() {}, alive() {}, ended: (attemptId) => onEnded.get(attemptId)?.() });
});
afterAll(async () => {
  for (const agent of agents) agent.kill('SIGKILL'); // a test that failed leaves one, and the service waits for its stream
  await harness?.close();
});

/** Variables of a worker: one that has joined, one that the control plane starts on its own machine, or one in a pod. */
async function credentialOf(id: string, place: 'joined' | 'local' | 'pod'): Promise<Record<string, string>> {
  const marked = place === 'joined' ? {} : { SVC_WORKER: id };
  if (place !== 'pod') return { ...marked, SVC_AGENT_TOKEN: await harness.credentials.issueWorker(id) };
  const scope = { kind: 'warm' as const, tenantId: harness.tenants.a, pool: '', dagId: 'leaves', versionNumber: 1 };
  service.reviewPodsWith(async () => ({ name: id, uid: id, of: { kind: 'worker', workerId: id, scope } }));
  const file = join(harness.logFolder, id);
  writeFileSync(file, 'token of the pod');
  return { ...marked, SVC_AGENT_TOKEN_FILE: file };
}

async function startWorker(isolation: string, place: 'joined' | 'local' | 'pod' = 'joined') {
  const id = crypto.randomUUID();
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const worker = service.workers.announce(id, { connected: () => resolve(), disconnected: () => {} });
  const agent = spawn(AGENT, ['work'], {
    cwd: harness.folder, // Python looks for modules there, too: what anybody puts into the checkout meanwhile must not count
    env: {
      ...process.env,
      HOME: harness.folder,
      SVC_PYTHON: harness.python,
      SVC_AGENT_CONTROL_PLANE_ADDR: harness.address(),
      SVC_AGENT_ISOLATION: isolation,
      ...(await credentialOf(id, place)),
    },
    stdio: ['pipe', 'inherit', 'pipe'],
  });
  agents.push(agent);
  let said = '';
  agent.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<number | string | null>((done) =>
    agent.once('exit', (code, signal) => done(code ?? signal)),
  );
  await connected;

  /** Resolves to what sends its order. */
  async function prepare(taskId: string): Promise<{ attempt: QueuedAttempt; order: () => void }> {
    const attempt = await harness.queue({ dagId: 'leaves', taskId });
    const { attemptId, dagId, mapIndex, tryNumber } = attempt;
    const task = { dag_id: dagId, task_id: taskId, map_index: mapIndex, try_number: tryNumber };
    const token = await harness.token(attempt);
    const assignment = { attempt_id: attemptId, token, version_key: 'v1', ...task };
    return { attempt, order: () => void worker.send({ assignment }) };
  }

  async function run(taskId: string): Promise<{ attempt: QueuedAttempt; value: unknown }> {
    const { attempt, order } = await prepare(taskId);
    const { attemptId } = attempt;
    order();
    const left = ended.then(() => Promise.reject(new Error(`the worker left before the attempt ended: ${said}`)));
    const outcome = await Promise.race([harness.attempts.ended(attemptId) as Promise<AttemptOutcome>, left]);
    expect(outcome.state).toBe('success');
    return { attempt, value: JSON.parse(outcome.xcoms?.[0]?.value ?? 'null') };
  }
  return { prepare, run, agent, ended, said: () => said };
}

type Places = { home: string; tmp: string; server: number };

it('a worker that keeps attempts apart gives each its own folders, and leaves when one left a process behind', async () => {
  const { run, ended, said } = await startWorker('apart');
  const [first, second] = [(await run('tidy')).value as Places, (await run('tidy')).value as Places];
  expect(first.home).not.toBe(second.home);
  expect(first.tmp).not.toBe(second.tmp);
  expect(first.server).toBe(second.server);
  await eventually(() => !existsSync(first.home) && !existsSync(first.tmp));
  const { attempt } = await run('untidy');
  expect(await ended).toBe(0); // by itself
  await eventually(() => said().includes('this worker takes no more attempts, and leaves')); // read after its end
  expect(existsSync(second.home)).toBe(false);
  const events = (await harness.logOf(attempt)).map(({ event }) => event);
  expect(events.join('\n')).toContain('a task left 1 running process');
});

it('a worker of the control plane’s own machine isolates attempts too, and stays when one left a process behind', async () => {
  const { run, agent, ended, said } = await startWorker('apart', 'local');
  const [first, second] = [(await run('tidy')).value as Places, (await run('tidy')).value as Places];
  expect(first.home).not.toBe(second.home);
  await run('untidy');
  await eventually(() => said().includes('the Python process of this version is replaced'));
  const third = (await run('tidy')).value as Places;
  expect(third.server).not.toBe(second.server);
  await eventually(() => !existsSync(dirname(dirname(second.home)))); // with the server that is gone
  agent.stdin.end();
  expect(await ended).toBe(0);
  expect(existsSync(third.home)).toBe(false);
});

it.each([
  ['joined', 'untidy'],
  ['joined', 'adds_a_module'],
  ['pod', 'untidy'],
] as const)(
  'an attempt that is ordered before its worker (%s) can leave after %s is given back, and never runs there',
  async (place, spoils) => {
    const { prepare, ended } = await startWorker(place === 'pod' ? 'pod' : 'apart', place);
    const [first, second] = [await prepare(spoils), await prepare('tidy')];
    onEnded.set(first.attempt.attemptId, second.order);
    first.order();
    const outcome = await harness.attempts.ended(second.attempt.attemptId);
    expect(outcome).toMatchObject({
      cause: 'agent_lost',
      text: expect.stringContaining('its worker takes no more attempts') as string,
    });
    expect(await ended).toBe(0);
    expect(await harness.logOf(second.attempt)).toEqual([]);
  },
);

it('elsewhere HOME is the worker’s, and only the Python process that forked such an attempt is replaced', async () => {
  const { run, agent, ended, said } = await startWorker('together');
  const before = (await run('tidy')).value as Places;
  expect(before.home).toBe(harness.folder);
  expect(existsSync(join(harness.folder, 'svc-left'))).toBe(true);
  const { attempt, value } = await run('untidy');
  expect(value).toBe(before.server);
  await eventually(() => said().includes('the Python process of this version is replaced'));
  expect(((await run('tidy')).value as Places).server).not.toBe(before.server);
  agent.stdin.end();
  expect(await ended).toBe(0);
  const events = (await harness.logOf(attempt)).map(({ event }) => event);
  expect(events.join('\n')).toContain('a task left 1 running process');
});
