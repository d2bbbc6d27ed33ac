import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDoor } from '@svc/testing/cli/flaky-door.ts';
import { eventually } from '@svc/testing/eventually.ts';
import type { AgentService } from '../agents/agent-service.ts';
import type { AttemptOutcome } from '../engine/shared/attempts.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { watchPair } from '../tls/watched-pair.ts';
import { resolveAgent } from './agent-process.ts';
import { createNullExecutor } from './null.ts';
import { createSubprocessExecutor, reachableAddress } from './subprocess.ts';

const AGENT = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc-agent');

const DAG = (folder: string): string => `
import time
from pathlib import Path
from airflow.sdk import dag, task, Variable

HERE = Path(${JSON.stringify(folder)})

def ended(context):
    (HERE / "callback").write_text(f"{context['dag_run'].run_id} {context['reason']}")

@dag(schedule=None, on_failure_callback=ended)
def modes():
    @task
    def quick():
        print("the token is", Variable.get("api_token"))
        return 1

    @task
    def waits():
        (HERE / "waits.started").write_text("1")
        while not (HERE / "waits.go").exists():
            time.sleep(0.02)
        return "waited"

    quick(); waits()

modes()
`;

const SILENT = { info() {}, warn() {}, error() {} };
let harness: AgentHarness;
let service: AgentService;
const agents: ReturnType<typeof spawn>[] = [];

beforeAll(async () => {
  harness = await startAgentHarness();
  await harness.addDag(harness.tenants.a, 'modes.py', DAG(harness.folder));
  const secret = { key: 'api_token', value_plain: 'canary-canary' };
  await harness.db.tenant(harness.tenants.a).insertInto('variables').values(secret).execute();
  service = await harness.startService();
});

afterEach(async () => {
  for (const agent of agents.splice(0)) {
    if (agent.exitCode !== null || agent.signalCode !== null) continue;
    agent.kill('SIGKILL');
    await ending(agent);
  }
});

afterAll(() => harness?.close());

function startAgent(mode: 'work' | 'run', token: string, env: Record<string, string> = {}) {
  const agent = spawn(AGENT, [mode], {
    env: {
      ...process.env,
      SVC_PYTHON: harness.python,
      SVC_AGENT_TOKEN: token,
      SVC_AGENT_CONTROL_PLANE_ADDR: harness.address(),
      ...env,
    },
    stdio: ['pipe', 'inherit', 'pipe'],
  });
  agents.push(agent);
  return agent;
}

/** What it has said may be read after this. */
const ending = (agent: ReturnType<typeof spawn>): Promise<number | string | null> =>
  new Promise((resolve) => agent.once('exit', (code, signal) => resolve(code ?? signal)));

/** What an earlier attempt of the task `waits` has left: with it the next would seem to have begun before it has. */
function forgetWaits(): void {
  for (const name of ['waits.go', 'waits.started']) rmSync(join(harness.folder, name), { force: true });
}

async function announceWorker() {
  const id = crypto.randomUUID();
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const worker = service.workers.announce(id, { connected: () => resolve(), disconnected: () => {} });
  return { worker, token: await harness.credentials.issueWorker(id), connected };
}

const assignmentOf = async (attempt: QueuedAttempt) => ({
  attempt_id: attempt.attemptId,
  token: await harness.token(attempt),
  version_key: 'v1',
  dag_id: attempt.dagId,
  task_id: attempt.taskId,
  map_index: attempt.mapIndex,
  try_number: attempt.tryNumber,
});

const outcomeOf = async (attempt: QueuedAttempt) => (await harness.attempts.ended(attempt.attemptId)) as AttemptOutcome;

describe('svc-agent run', () => {
  it.each([
    ['when Python has to be tried first', false],
    ['as in an image, where Python starts beside it', true],
  ])('runs the attempt of its credential, with secrets masked in the log, and leaves: %s', async (_, isChecked) => {
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'quick' });
    const checked: Record<string, string> = isChecked ? { SVC_PYTHON_CHECKED: harness.python } : {};
    const agent = startAgent('run', await harness.token(attempt), checked);
    expect(await ending(agent)).toBe(0);
    expect(await outcomeOf(attempt)).toMatchObject({ state: 'success', xcoms: [{ key: 'return_value', value: '1' }] });
    const events = (await harness.logOf(attempt)).map(({ event }) => event);
    expect(events).toContain('the token is ***');
    expect(events.join('\n')).not.toContain('canary-canary');
  });

  it('does nothing for an attempt that is not the current one any more', async () => {
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'quick' });
    const token = await harness.token(attempt);
    const scoped = harness.db.tenant(attempt.tenantId);
    const other = { attempt_id: crypto.randomUUID() };
    await scoped.updateTable('task_instances').set(other).where('run', '=', attempt.run).execute();
    expect(await ending(startAgent('run', token))).toBe(0);
    expect(await harness.logOf(attempt)).toEqual([]);
  });

  it('refuses, in plain words, what is no credential', async () => {
    const agent = startAgent('run', 'nonsense');
    let said = '';
    agent.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    expect(await ending(agent)).toBe(2);
    await eventually(() => expect(said).toContain('SVC_AGENT_TOKEN is no credential of an attempt'));
  });
});

describe('an agent that is asked to stop while nobody answers', () => {
  const unreachable = async (mode: 'work' | 'run', token: string, env: Record<string, string> = {}) => {
    const door = await openDoor(`http://${harness.address()}`);
    const quick = { SVC_AGENT_STOP_GRACE_MS: '300', ...env };
    const agent = startAgent(mode, token, { SVC_AGENT_CONTROL_PLANE_ADDR: new URL(door.url).host, ...quick });
    let said = '';
    agent.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { door, agent, said: () => said };
  };

  it('leaves by itself when its attempt has not even been started', async () => {
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'quick' });
    const token = await harness.token(attempt);
    const { door, agent, said } = await unreachable('run', token);
    door.shut();
    await eventually(() => door.visits() > 1);
    agent.kill('SIGTERM');
    expect(await ending(agent)).toBe(1);
    await eventually(() => expect(said()).toContain('no control plane has taken the report'));
    await door.close();
  });

  it('leaves by itself when its attempt runs, and nothing of that is left', async () => {
    forgetWaits();
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'waits' });
    const { door, agent } = await unreachable('run', await harness.token(attempt));
    await eventually(() => existsSync(join(harness.folder, 'waits.started')));
    door.shut();
    agent.kill('SIGTERM');
    expect(await ending(agent)).toBe(1);
    await door.close();
  });

  it('leaves by itself while it asks for the credential of its attempt, and says so', async () => {
    const tokenFile = join(harness.folder, 'pod-token');
    writeFileSync(tokenFile, 'of a pod');
    const { door, agent, said } = await unreachable('run', '', { SVC_AGENT_TOKEN_FILE: tokenFile });
    door.shut();
    await eventually(() => door.visits() > 1);
    agent.kill('SIGTERM');
    expect(await ending(agent)).toBe(2);
    await eventually(() => expect(said()).toContain('stopped before the token of this pod was exchanged'));
    await door.close();
  });

  it('leaves by itself also as a worker', async () => {
    forgetWaits();
    const { worker, token, connected } = await announceWorker();
    const { door, agent } = await unreachable('work', token);
    await connected;
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'waits' });
    worker.send({ assignment: await assignmentOf(attempt) });
    await eventually(() => existsSync(join(harness.folder, 'waits.started')));
    door.shut();
    agent.kill('SIGTERM');
    expect(await ending(agent)).toBe(1);
    worker.dismiss();
    await door.close();
  });
});

describe('svc-agent work', () => {
  async function startWorker() {
    const { worker, token, connected } = await announceWorker();
    const agent = startAgent('work', token);
    await connected;
    return { worker, agent };
  }

  it('whose input closes finishes and reports what it has begun, then leaves', async () => {
    const { worker, agent } = await startWorker();
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'waits' });
    forgetWaits();
    worker.send({ assignment: await assignmentOf(attempt) });
    await eventually(() => existsSync(join(harness.folder, 'waits.started')));
    const ended = ending(agent);
    agent.stdin?.end();
    await eventually(() => !worker.isConnected());
    writeFileSync(join(harness.folder, 'waits.go'), '');
    expect(await ended).toBe(0);
    expect(await outcomeOf(attempt)).toMatchObject({ state: 'success' });
  });

  it('runs an attempt once, however often it is ordered', async () => {
    const { worker } = await startWorker();
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'quick' });
    const before = harness.attempts.calls.start;
    const assignment = await assignmentOf(attempt);
    for (let time = 0; time < 3; time += 1) worker.send({ assignment });
    await outcomeOf(attempt);
    worker.send({ assignment });
    // Another order, given after all of these: when it has been carried out, they have been looked at.
    const later = await harness.queue({ dagId: 'modes', taskId: 'quick' });
    worker.send({ assignment: await assignmentOf(later) });
    await outcomeOf(later);
    expect(harness.attempts.calls.start - before).toBe(2);
  });

  it('that gets SIGTERM stops its attempts, says so, and leaves', async () => {
    const { worker, agent } = await startWorker();
    const attempt = await harness.queue({ dagId: 'modes', taskId: 'waits' });
    forgetWaits();
    worker.send({ assignment: await assignmentOf(attempt) });
    await eventually(() => existsSync(join(harness.folder, 'waits.started')));
    const ended = ending(agent);
    // To the program itself: its process replaced the shell that started it.
    agent.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect((await outcomeOf(attempt)).failure).toMatchObject({
      cause: 'process_killed',
      text: expect.stringContaining('the agent was asked to stop'),
    });
  });

  it('reports a DAG file that cannot be loaded, with the traceback in the log', async () => {
    const breakIt = (spec: { source: { text: string } }): void => {
      spec.source.text = 'import nothing_of_this_name\n';
    };
    await harness.addDag(harness.tenants.a, 'broken.py', DAG(harness.folder).replaceAll('modes', 'broken'), breakIt);
    const { worker } = await startWorker();
    const attempt = await harness.queue({ dagId: 'broken', taskId: 'quick' });
    worker.send({ assignment: { ...(await assignmentOf(attempt)), version_key: 'broken' } });
    expect((await outcomeOf(attempt)).failure).toMatchObject({
      cause: 'dag_file_failed',
      text: expect.stringContaining('nothing_of_this_name'),
    });
    const events = (await harness.logOf(attempt)).map(({ event }) => event);
    expect(events.join('\n')).toContain('ModuleNotFoundError');
  });

  it('does not blame the DAG file when its process is killed while it is loaded', async () => {
    const killIt = (spec: { source: { text: string } }): void => {
      spec.source.text = 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n';
    };
    await harness.addDag(harness.tenants.a, 'killed.py', DAG(harness.folder).replaceAll('modes', 'killed'), killIt);
    const { worker } = await startWorker();
    const attempt = await harness.queue({ dagId: 'killed', taskId: 'quick' });
    worker.send({ assignment: { ...(await assignmentOf(attempt)), version_key: 'killed' } });
    expect((await outcomeOf(attempt)).failure).toMatchObject({
      cause: 'process_killed',
      text: expect.stringContaining('while it loaded the DAG file: SIGKILL'),
    });
  });

  it('reports packages that cannot be installed, with what the installer said', async () => {
    const needy = (spec: { project: unknown }): void => {
      spec.project = { defined_as: 'needy', dependencies: ['./no-such-folder/no-such-package'] };
    };
    await harness.addDag(harness.tenants.a, 'needy.py', DAG(harness.folder).replaceAll('modes', 'needy'), needy);
    const { worker } = await startWorker();
    const attempt = await harness.queue({ dagId: 'needy', taskId: 'quick' });
    worker.send({ assignment: { ...(await assignmentOf(attempt)), version_key: 'needy' } });
    expect((await outcomeOf(attempt)).failure?.cause).toBe('environment_failed');
    const events = (await harness.logOf(attempt)).map(({ event }) => event);
    expect(events.join('\n')).toContain('no-such-package');
  });
});

describe('a callback of a run', () => {
  it('is called with its run and its reason, once, and is done then', async () => {
    const executor = createSubprocessExecutor({
      service,
      credentials: harness.credentials,
      attempts: harness.attempts,
      agentPath: AGENT,
      workdir: '',
      parallelism: 2,
      controlPlane: harness.address,
      env: { ...process.env, SVC_PYTHON: harness.python },
      log: harness.log,
    });
    executor.start();
    await eventually(() => executor.capacity() === 2);
    const scoped = harness.db.tenant(harness.tenants.a);
    const { run, runId } = await harness.queue({ dagId: 'modes', taskId: 'quick' });
    const request = { run, dag_id: 'modes', which: 'on_failure', reason: 'task_failure' };
    const row = await scoped.insertInto('callback_requests').values(request).returningAll().executeTakeFirstOrThrow();
    executor.dispatchCallbacks([{ ...row, versionNumber: 1 }]);
    const state = async () =>
      (await scoped.selectFrom('callback_requests').select('state').where('id', '=', row.id).executeTakeFirst())?.state;
    await eventually(async () => (await state()) === 'done');
    expect(readFileSync(join(harness.folder, 'callback'), 'utf8')).toBe(`${runId} task_failure`);
    await eventually(() => executor.capacity() === 2);
    await executor.close('stop');
  });
});

describe('a channel with TLS', () => {
  it('is used when certificate and authority are given, and an agent that does not trust it says nothing over it', async () => {
    const [key, cert] = [join(harness.folder, 'key.pem'), join(harness.folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        ...subject,
      ],
      { stdio: 'ignore' },
    );
    const secure = await startAgentHarness(
      {},
      { tls: watchPair({ section: 'server.grpc_tls', cert, key }, { log: SILENT }) },
    );
    try {
      await secure.addDag(secure.tenants.a, 'modes.py', DAG(harness.folder));
      const variable = { key: 'api_token', value_plain: 'canary-canary' };
      await secure.db.tenant(secure.tenants.a).insertInto('variables').values(variable).execute();
      await secure.startService();
      const attempt = await secure.queue({ dagId: 'modes', taskId: 'quick' });
      const env = { SVC_AGENT_CONTROL_PLANE_ADDR: secure.address() };
      const token = await secure.token(attempt);
      const door = await openDoor(`http://${secure.address()}`);
      const plain = startAgent('run', token, { SVC_AGENT_CONTROL_PLANE_ADDR: new URL(door.url).host });
      await eventually(() => door.visits() > 1); // whoever comes again has been refused before
      expect(secure.attempts.calls.start).toBe(0);
      plain.kill('SIGKILL');
      await door.close();
      expect(await ending(startAgent('run', token, { ...env, SVC_AGENT_TLS_CA: cert }))).toBe(0);
      expect(await secure.attempts.ended(attempt.attemptId)).toMatchObject({ state: 'success' });
    } finally {
      await secure.close();
    }
  });
});

describe('the executor', () => {
  it('finds an agent on the PATH, else beside itself; a path is taken as it is', () => {
    expect(resolveAgent('svc-agent', '')).toBe(AGENT);
    expect(resolveAgent('sh', '/nowhere:/bin')).toBe('/bin/sh');
    expect(resolveAgent('/opt/svc-agent', '')).toBe('/opt/svc-agent');
  });

  it.each([
    ['0.0.0.0', '127.0.0.1:9091'],
    ['::', '[::1]:9091'],
    ['10.0.0.1', '10.0.0.1:9091'],
    ['::1', '[::1]:9091'],
  ])('tells an agent how to reach a listener on %s', (host, address) => {
    expect(reachableAddress({ host, port: 9_091 })).toBe(address);
  });

  it('that runs nothing (null) starts and finishes each attempt, and has room again', async () => {
    const executor = createNullExecutor({ attempts: harness.attempts, parallelism: 3, log: harness.log });
    let told = 0;
    executor.onCapacity(() => (told += 1));
    const attempts = await Promise.all([1, 2].map(() => harness.queue({ dagId: 'modes', taskId: 'quick' })));
    executor.dispatch(attempts);
    expect(executor.capacity()).toBe(1);
    for (const attempt of attempts) expect(await outcomeOf(attempt)).toEqual({ state: 'success' });
    await eventually(() => executor.capacity() === 3);
    expect(told).toBe(2);
  });
});

describe('an executor that is closed before its agent is there', () => {
  it('starts none any more: nobody would be left to end it', async () => {
    const started = join(harness.folder, 'agents-started');
    const agentPath = join(harness.folder, 'fake-agent');
    writeFileSync(agentPath, `#!/bin/sh\necho "$WHICH" >> ${started}\ncat > /dev/null\n`, { mode: 0o755 });
    const issued = Promise.withResolvers<void>();
    const begin = (WHICH: string) => {
      const begun = createSubprocessExecutor({
        service,
        credentials: {
          ...harness.credentials,
          issueWorker: (id) => issued.promise.then(() => harness.credentials.issueWorker(id)),
        },
        attempts: harness.attempts,
        agentPath,
        workdir: '',
        parallelism: 1,
        controlPlane: harness.address,
        env: { ...process.env, WHICH },
        log: harness.log,
      });
      begun.start();
      return begun;
    };
    await begin('closed').close('stop');
    const kept = begin('kept'); // comes after it, the same way
    issued.resolve();
    await eventually(() => existsSync(started) && readFileSync(started, 'utf8').includes('kept'));
    expect(readFileSync(started, 'utf8')).toBe('kept\n');
    await kept.close('stop');
  });
});
