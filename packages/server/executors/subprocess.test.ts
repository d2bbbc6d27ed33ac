import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { startHangUpServer } from '@svc/testing/server/hang-up-server.ts';
import { WORKER_VARIABLE, markedProcesses } from '@svc/proto/marked-processes.ts';
import type { AttemptOutcome } from '../engine/shared/attempts.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { createSubprocessExecutor } from './subprocess.ts';
import type { ManagedExecutor } from '../engine/executor.ts';

/** Bodies tell what they do through files, so that the test sees it whatever becomes of their output. */
const DAG = (folder: string): string => `
import os, signal, subprocess, sys, time
from datetime import timedelta
from pathlib import Path
from airflow.sdk import dag, task

HERE = Path(${JSON.stringify(folder)})

def mark(name, text="1"):
    (HERE / f"{name}.part").write_text(text)
    (HERE / f"{name}.part").rename(HERE / name)

def wait_for(name):
    while not (HERE / name).exists():
        time.sleep(0.02)

@dag(schedule=None)
def bodies():
    @task
    def speak():
        print("printed")
        subprocess.run(["sh", "-c", "echo from a program; echo complaint >&2"])
        return {"float": 1.0, "large": 12345678901234, "text": "ü"}

    @task
    def die():
        mark("die.started", str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)

    @task
    def leave():
        os._exit(3)

    @task
    def forge():
        from svc_runtime.run.outcome import Outcome
        original = Outcome.message
        def message(self):
            return {**original(self), "state": "failed", "failure": {"cause": "agent_lost", "text": "not my fault"}}
        Outcome.message = message

    @task
    def garble():
        from svc_runtime.run.outcome import Outcome
        original = Outcome.message
        Outcome.message = lambda self: {**original(self), "asset_events": [{}]}

    @task
    def family():
        child = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 86300 & setsid sleep 86301 & sleep 86302"])
        mark("family.started", str(child.pid))
        time.sleep(300)

    @task
    def stubborn():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        mark("stubborn.started")
        while True:
            time.sleep(1)

    @task
    def until_told(name):
        print("begun")
        mark(f"{name}.started")
        wait_for(f"{name}.go")
        print("ended")
        mark(f"{name}.ended")
        return "told"

    @task(execution_timeout=timedelta(seconds=0.2))
    def slow():
        time.sleep(30)

    @task
    def chatty():
        for number in range(60_000):
            print(f"line {number} " + "x" * 100)

    speak(); die(); leave(); forge(); garble(); family(); stubborn(); until_told("outage"); slow(); chatty()

bodies()
`;

let harness: AgentHarness;
let executor: ManagedExecutor;

async function startExecutor(): Promise<ManagedExecutor> {
  const service = await harness.startService();
  const started = createSubprocessExecutor({
    service,
    credentials: harness.credentials,
    attempts: harness.attempts,
    agentPath: 'svc-agent',
    workdir: '',
    parallelism: 4,
    controlPlane: harness.address,
    env: { ...process.env, SVC_PYTHON: harness.python, SVC_AUTH_JWT_SECRET: 'never for an agent' },
    log: harness.log,
  });
  started.start();
  await eventually(() => started.capacity() === 4);
  return started;
}

const file = (name: string): string => join(harness.folder, name);
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/environ`) && !isZombie(pid);
const isZombie = (pid: number): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

async function run(taskId: string): Promise<{ attempt: QueuedAttempt; outcome: AttemptOutcome }> {
  const attempt = await harness.queue({ dagId: 'bodies', taskId });
  executor.dispatch([attempt]);
  return { attempt, outcome: (await harness.attempts.ended(attempt.attemptId)) as AttemptOutcome };
}

beforeAll(async () => {
  harness = await startAgentHarness();
  await harness.addDag(harness.tenants.a, 'bodies.py', DAG(harness.folder));
  executor = await startExecutor();
});

afterAll(async () => {
  await executor?.close('stop');
  await harness?.close();
});

beforeEach(() => eventually(() => executor.capacity() === 4));

describe('an attempt', () => {
  it('brings back its values as they were written, and every line whoever printed it', async () => {
    const { attempt, outcome } = await run('speak');
    expect(outcome.state).toBe('success');
    expect(outcome.xcoms).toEqual([
      { key: 'return_value', value: '{"float":1.0,"large":12345678901234,"text":"\\u00fc"}' },
    ]);
    await eventually(async () => {
      const lines = await harness.logOf(attempt);
      expect(lines).toContainEqual(expect.objectContaining({ event: 'printed', logger: 'task.stdout', level: 'info' }));
      expect(lines).toContainEqual(expect.objectContaining({ event: 'from a program', level: 'info' }));
      expect(lines).toContainEqual(expect.objectContaining({ event: 'complaint', level: 'error' }));
    });
  });

  it('that is killed is over at once, with what was seen', async () => {
    const { outcome } = await run('die');
    expect(outcome.failure).toEqual({ cause: 'process_killed', text: 'the task process was killed by SIGKILL' });
    expect(outcome.pid).toBe(Number(readFileSync(file('die.started'), 'utf8')));
  });

  it('whose process exits without an outcome has failed', async () => {
    const { attempt, outcome } = await run('leave');
    expect(outcome.failure).toMatchObject({ cause: 'process_exited', text: expect.stringContaining('exit code 3') });
    const lines = await harness.logOf(attempt);
    expect(lines.at(-1)).toMatchObject({ level: 'error', event: expect.stringContaining('exit code 3') });
  });

  it('cannot blame the platform for its failure', async () => {
    const { outcome } = await run('forge');
    expect(outcome.failure).toEqual({ cause: 'exception', text: 'not my fault' });
  });

  it('whose outcome cannot be taken is over all the same, and says why', async () => {
    const { attempt, outcome } = await run('garble');
    expect(outcome).toMatchObject({ state: 'failed', failure: { cause: 'exception' } });
    expect(outcome.failure?.text).toContain('an asset event names no asset');
    const events = (await harness.logOf(attempt)).map(({ event }) => event);
    expect(events.join('\n')).toContain('an asset event names no asset');
  });

  it('that outlasts its execution_timeout fails for that reason', async () => {
    const { outcome } = await run('slow');
    expect(outcome.failure?.cause).toBe('execution_timeout');
  });

  it('of many lines loses none of them', async () => {
    const { attempt } = await run('chatty');
    const lines = (await harness.logOf(attempt)).filter(({ logger }) => logger === 'task.stdout');
    expect(lines.map(({ event }) => event.split(' ')[1])).toEqual(Array.from({ length: 60_000 }, (_, i) => String(i)));
  });
});

describe('a cancelled attempt', () => {
  it('takes everything it has started along, also what hid in another session', async () => {
    const attempt = await harness.queue({ dagId: 'bodies', taskId: 'family' });
    executor.dispatch([attempt]);
    await eventually(() => existsSync(file('family.started')));
    const pid = Number(readFileSync(file('family.started'), 'utf8'));
    executor.cancel([attempt.attemptId]);
    const outcome = (await harness.attempts.ended(attempt.attemptId)) as AttemptOutcome;
    expect(outcome.failure?.cause).toBe('process_killed');
    await eventually(() => !isAlive(pid));
    await eventually(() => sleepers(['86300', '86301', '86302']).length === 0);
  });

  it('that ignores SIGTERM is killed', async () => {
    const attempt = await harness.queue({ dagId: 'bodies', taskId: 'stubborn' });
    executor.dispatch([attempt]);
    await eventually(() => existsSync(file('stubborn.started')));
    // This time as a heartbeat tells it: the way of an agent whose stream is broken.
    harness.attempts.stopping.add(attempt.attemptId);
    const outcome = (await harness.attempts.ended(attempt.attemptId)) as AttemptOutcome;
    expect(outcome.failure?.cause).toBe('process_killed');
  });
});

/** Programs that the bodies started, by their argument. */
function sleepers(seconds: readonly string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words[0] === 'sleep' && seconds.includes(words[1] ?? '') && !isZombie(pid);
      } catch {
        return false;
      }
    });
}

describe('an answer that is lost after the work was done', () => {
  it('makes the agent ask again, and changes nothing', async () => {
    harness.attempts.loseAnswers.start = 1;
    harness.attempts.loseAnswers.finish = 2;
    const before = { ...harness.attempts.calls };
    const { attempt } = await run('speak');
    await eventually(() => executor.capacity() === 4);
    expect(harness.attempts.calls.start - before.start).toBe(2);
    expect(harness.attempts.calls.finish - before.finish).toBe(3);
    expect(harness.attempts.recorded.filter(({ attemptId }) => attemptId === attempt.attemptId)).toHaveLength(1);
    const lines = await harness.logOf(attempt);
    expect(lines.filter(({ event }) => event === 'printed')).toHaveLength(1);
  });
});

describe('a control plane that is away when a task ends', () => {
  it('gets outcome and log when it is back', async () => {
    const attempt = await harness.queue({ dagId: 'bodies', taskId: 'until_told' });
    executor.dispatch([attempt]);
    await eventually(() => existsSync(file('outage.started')));
    await harness.stopService();
    writeFileSync(file('outage.go'), '');
    await eventually(() => existsSync(file('outage.ended')));
    const away = await startHangUpServer(Number(harness.address().split(':')[1]));
    await eventually(() => away.calls() > 1);
    await away.close();
    expect(harness.attempts.recorded.some(({ attemptId }) => attemptId === attempt.attemptId)).toBe(false);
    // A control plane that knows nothing of this agent, as after a restart.
    const next = await harness.startService();
    const outcome = (await harness.attempts.ended(attempt.attemptId)) as AttemptOutcome;
    expect(outcome).toMatchObject({ state: 'success', xcoms: [{ key: 'return_value', value: '"told"' }] });
    await eventually(async () => (await harness.logOf(attempt)).some(({ event }) => event === 'ended'));
    const events = (await harness.logOf(attempt)).map(({ event }) => event);
    expect(events.filter((event) => event === 'begun' || event === 'ended')).toEqual(['begun', 'ended']);
    await executor.close('stop');
    await next.close();
    executor = await startExecutor();
  });
});

describe('a Python server process that is killed', () => {
  it('takes its attempts with it, which is reported at once, and the next attempt gets another', async () => {
    rmSync(file('stubborn.started'), { force: true });
    const attempt = await harness.queue({ dagId: 'bodies', taskId: 'stubborn' });
    executor.dispatch([attempt]);
    await eventually(() => existsSync(file('stubborn.started')));
    const servers = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isForkServer(name));
    for (const pid of servers) process.kill(Number(pid), 'SIGKILL');
    const outcome = (await harness.attempts.ended(attempt.attemptId)) as AttemptOutcome;
    expect(outcome.failure?.cause).toBe('process_killed');
    expect((await run('speak')).outcome.state).toBe('success');
  });
});

/** Of this test: its agent is the parent. */
function isForkServer(pid: string): boolean {
  try {
    const isServer = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('svc_runtime.run_server');
    const parent = Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    return isServer && agentOf('').includes(parent);
  } catch {
    return false;
  }
}

describe('an agent that is killed', () => {
  it('loses its attempts at once, leaves nothing running, and is started again', async () => {
    rmSync(file('family.started'), { force: true });
    const attempt = await harness.queue({ dagId: 'bodies', taskId: 'family' });
    executor.dispatch([attempt]);
    await eventually(() => existsSync(file('family.started')));
    const pid = Number(readFileSync(file('family.started'), 'utf8'));
    const worker =
      new RegExp(`${WORKER_VARIABLE}=([^\\0]+)`).exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? '';
    const [agent] = agentOf(worker);
    process.kill(agent ?? 0, 'SIGKILL');
    expect(await harness.attempts.ended(attempt.attemptId)).toMatchObject({ cause: 'agent_lost' });
    expect(await markedProcesses(WORKER_VARIABLE, worker)).toEqual([]);
    await eventually(() => executor.capacity() === 4);
    expect((await run('speak')).outcome.state).toBe('success');
  });

  it('has seen nothing of the control plane’s own settings', async () => {
    const [agent] = agentOf('');
    const environment = readFileSync(`/proc/${agent}/environ`, 'utf8');
    expect(environment).toContain('SVC_AGENT_TOKEN=');
    expect(environment).not.toContain('never for an agent');
  });
});

/** Of this test's executor: the node process among those with its mark. */
function agentOf(worker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        const isOurs = environment.includes(`SVC_AGENT_CONTROL_PLANE_ADDR=${harness.address()}\0`);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return (
          isOurs && environment.includes(`${WORKER_VARIABLE}=${worker}`) && command.includes('packages/agent/main.ts')
        );
      } catch {
        return false;
      }
    });
}
