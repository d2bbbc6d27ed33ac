/** An agent with a line to the control plane that has started it: what goes by it, who may speak on it, and what happens without. */
import { existsSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Agent } from '@svc/proto/agent-service.ts';
import { openLine } from '@svc/proto/line.ts';
import type { Line, LineCall, LineFrame } from '@svc/proto/line.ts';
import { WORKER_VARIABLE, markedProcesses } from '@svc/proto/marked-processes.ts';
import { startAgentHarness } from '@svc/testing/agents/agent-harness.ts';
import type { AgentHarness, QueuedAttempt } from '@svc/testing/agents/agent-harness.ts';
import { eventually } from '@svc/testing/eventually.ts';
import type { AgentService } from '../agents/agent-service.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { AttemptOutcome } from '../engine/shared/attempts.ts';
import { createSubprocessExecutor } from './subprocess.ts';

const DAG = (folder: string): string => `
import time
from pathlib import Path
from airflow.sdk import dag, task

HERE = Path(${JSON.stringify(folder)})

@dag(schedule=None)
def lines():
    @task
    def large():
        return "x" * 500_000

    @task
    def until_told(name):
        (HERE / f"{name}.started").write_text("1")
        while not (HERE / f"{name}.go").exists():
            time.sleep(0.02)
        print("told")
        return name

    large(); until_told("kept")
    until_told.override(task_id="cut")("cut")

lines()
`;

let harness: AgentHarness;
let service: AgentService;
let executor: ManagedExecutor;
let ours: Duplex | undefined;
let bytesHeard = 0;
let workerId = '';

beforeAll(async () => {
  harness = await startAgentHarness();
  await harness.addDag(harness.tenants.a, 'lines.py', DAG(harness.folder));
  service = await harness.startService();
  const { workers } = service;
  executor = createSubprocessExecutor({
    service: {
      ...service,
      workers: { ...workers, announce: (id, listener) => workers.announce((workerId = id), listener) },
    },
    credentials: harness.credentials,
    attempts: harness.attempts,
    agentPath: 'svc-agent',
    workdir: '',
    parallelism: 4,
    controlPlane: harness.address,
    serveLine(socket) {
      ours = socket;
      socket.on('data', (chunk: Buffer) => (bytesHeard += chunk.length));
      service.serveLine(socket);
    },
    env: { ...process.env, SVC_PYTHON: harness.python },
    log: harness.log,
  });
  executor.start();
  await eventually(() => executor.capacity() === 4);
});
afterAll(async () => {
  await executor?.close('stop');
  await harness?.close();
});
beforeEach(() => eventually(() => executor.capacity() === 4));

const begin = async (taskId: string): Promise<QueuedAttempt> => {
  const attempt = await harness.queue({ dagId: 'lines', taskId });
  executor.dispatch([attempt]);
  return attempt;
};
const endOf = async ({ attemptId }: QueuedAttempt): Promise<AttemptOutcome> =>
  (await harness.attempts.ended(attemptId)) as AttemptOutcome;
const file = (name: string): string => join(harness.folder, name);

describe('the line of an agent', () => {
  it('carries its orders, its calls and their answers, large ones too', async () => {
    const before = bytesHeard;
    const outcome = await endOf(await begin('large'));
    expect(outcome.state).toBe('success');
    // Its value was sent in parts by calls of the attempt.
    expect(outcome.xcoms?.[0]?.value).toContain('500,002 bytes');
    expect(bytesHeard - before).toBeGreaterThan(500_000);
  });

  it('is not for the processes of tasks', async () => {
    const attempt = await begin('until_told');
    await eventually(() => existsSync(file('kept.started')));
    const inode = (link: string) => /^socket:\[\d+\]$/.test(link);
    const linkOf = (pid: number, fd: string): string => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    };
    const of = (pid: number): string[] => filesOf(pid).map((fd) => linkOf(pid, fd));
    const [agent, ...others] = await agentAndBelow();
    const line = readlinkSync(`/proc/${agent}/fd/3`);
    expect(inode(line)).toBe(true);
    expect(others.length).toBeGreaterThan(0);
    for (const pid of others) expect(of(pid)).not.toContain(line);
    writeFileSync(file('kept.go'), '');
    expect((await endOf(attempt)).state).toBe('success');
  });

  it('that is cut is done without: what runs is told by the network, and so is what comes', async () => {
    const attempt = await begin('cut');
    await eventually(() => existsSync(file('cut.started')));
    ours?.destroy();
    writeFileSync(file('cut.go'), '');
    expect((await endOf(attempt)).state).toBe('success');
    await eventually(async () => {
      expect((await harness.logOf(attempt)).map(({ event }) => event)).toContain('told');
    });
    await eventually(() => executor.capacity() === 4);
    expect((await endOf(await begin('large'))).state).toBe('success');
  });
});

/** Of a process that has ended: none. */
function filesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

/** Our own child first: all others are its descendants, marked as it is. */
async function agentAndBelow(): Promise<number[]> {
  const parentOf = (pid: number): number => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
    } catch {
      return 0; // it has ended
    }
  };
  const marked = await markedProcesses(WORKER_VARIABLE, workerId);
  return marked.toSorted((a, b) => Number(parentOf(b) === process.pid) - Number(parentOf(a) === process.pid));
}

describe('a caller on a line', () => {
  const definitions = Agent.service as unknown as Record<string, { requestSerialize(request: object): Buffer }>;

  async function ask(method: LineCall['method'], token: string, request: object | Buffer): Promise<LineFrame> {
    const [near, far] = duplexPair();
    service.serveLine(far);
    const message = Buffer.isBuffer(request) ? request : (definitions[method]?.requestSerialize(request) as Buffer);
    return new Promise((resolve) => {
      const line = openLine(near, { frame: resolve, end: () => {} });
      line.send({ kind: 'call', id: 7, method, token, message });
    });
  }

  it.each(['', 'nonsense'])('without a credential of ours (%j) is refused, whatever it asks', async (token) => {
    for (const method of ['Work', 'Start', 'Heartbeat', 'AppendLog', 'Finish', 'Call', 'GetVersion'] as const) {
      expect(await ask(method, token, {})).toMatchObject({ kind: 'answer', id: 7, code: status.UNAUTHENTICATED });
    }
  });

  it('has no more rights than by the network: an attempt gets no orders, a worker nobody expects none either', async () => {
    const attempt = await harness.queue({ dagId: 'lines', taskId: 'large' });
    expect(await ask('Work', await harness.token(attempt), {})).toMatchObject({ code: status.UNAUTHENTICATED });
    const stranger = await harness.credentials.issueWorker(crypto.randomUUID());
    const request = { hostname: 'x', pid: 1, version: '0', running_tokens: [] };
    expect(await ask('Work', stranger, request)).toMatchObject({ code: status.PERMISSION_DENIED });
  });

  it('that takes orders gets them until it wants no more, or leaves', async () => {
    const definition = Agent.service as unknown as Record<'Work', { responseDeserialize(bytes: Uint8Array): object }>;
    for (const how of ['cancels', 'leaves']) {
      const id = crypto.randomUUID();
      const told: string[] = [];
      const announced = service.workers.announce(id, {
        connected: () => told.push('connected'),
        disconnected: () => told.push('disconnected'),
      });
      const [near, far] = duplexPair();
      service.serveLine(far);
      const orders: object[] = [];
      const line = openLine(near, {
        frame: (frame) => frame.kind === 'order' && orders.push(definition.Work.responseDeserialize(frame.message)),
        end: () => {},
      });
      const message = definitions['Work']?.requestSerialize({ hostname: 'x', pid: 1, version: '0' }) as Buffer;
      line.send({ kind: 'call', id: 3, method: 'Work', token: await harness.credentials.issueWorker(id), message });
      await eventually(() => announced.isConnected());
      expect(announced.send({ drain: { reason: 'because' } })).toBe(true);
      await eventually(() => expect(orders.at(-1)).toMatchObject({ drain: { reason: 'because' } }));
      if (how === 'cancels') line.send({ kind: 'cancel', id: 3 });
      else near.destroy();
      await eventually(() => !announced.isConnected());
      expect(announced.send({ drain: { reason: 'again' } })).toBe(false);
      expect(told).toEqual(['connected', 'disconnected']);
      announced.dismiss();
    }
  });

  it('that leaves before it was admitted gets no stream', async () => {
    for (const leave of [(line: Line) => line.send({ kind: 'cancel', id: 3 }), (line: Line) => line.end()]) {
      const id = crypto.randomUUID();
      let connected = 0;
      const announced = service.workers.announce(id, { connected: () => (connected += 1), disconnected: () => {} });
      const [near, far] = duplexPair();
      service.serveLine(far);
      const line = openLine(near, { frame: () => {}, end: () => {} });
      const message = definitions['Work']?.requestSerialize({ hostname: 'x', pid: 1, version: '0' }) as Buffer;
      line.send({ kind: 'call', id: 3, method: 'Work', token: await harness.credentials.issueWorker(id), message });
      leave(line);
      await sleep(100);
      expect([connected, announced.isConnected()]).toEqual([0, false]);
      announced.dismiss();
    }
  });

  it('that sends what is no message, or too much, is told so, and others are answered', async () => {
    const token = await harness.token(await harness.queue({ dagId: 'lines', taskId: 'large' }));
    expect(await ask('Start', token, Buffer.alloc(100_000, 0x08))).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    expect(await ask('Start', token, Buffer.from([0xff, 0xff]))).toMatchObject({ kind: 'answer', id: 7 });
    expect(await ask('Start', token, { hostname: 'here', pid: 1 })).toMatchObject({ code: status.OK });
  });
});
