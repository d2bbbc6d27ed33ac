import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentService } from '../agents/agent-service.ts';
import type { AttemptObserver } from '../agents/service-options.ts';
import type { Attempts, HandedOver, StartedAhead } from '../engine/shared/attempts.ts';
import { createWorkerAttempts } from './worker-attempts.ts';
import type { OrderedIdentity } from './worker-attempts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ATTEMPT: OrderedIdentity = {
  kind: 'task',
  tenantId: 'a',
  attemptId: 'attempt',
  dagId: 'dag',
  run: 1,
  taskId: 'task',
  mapIndex: -1,
  tryNumber: 1,
  versionNumber: 1,
};

function start({ accepts = true } = {}) {
  let observer: AttemptObserver | undefined;
  const startEarly = vi.fn<AgentService['startEarly']>();
  const lost = vi.fn<Attempts['lost']>(async () => undefined);
  const given = createWorkerAttempts({
    service: { observe: (one) => void (observer = one), startEarly },
    credentials: { issueAttempt: async () => 'token' },
    attempts: { lost, triggererLost: async () => undefined },
    onRoom: () => undefined,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const send = vi.fn(() => true);
  const announced = { isConnected: () => true, send, dismiss: () => undefined };
  given.add('worker', { announced, hostname: () => 'host' });
  if (accepts) given.accept(ATTEMPT, 'worker');
  return { given, startEarly, lost, send, alive: () => observer?.alive(ATTEMPT.attemptId) };
}

it('a cancelled attempt of which its worker says nothing, as if it had never heard of it, keeps the worker for half a minute', () => {
  const { given } = start();
  vi.advanceTimersByTime(100_000);
  given.cancel([ATTEMPT.attemptId]);
  vi.advanceTimersByTime(20_000);
  given.cancel([ATTEMPT.attemptId]);
  given.forgetSilent();
  expect(given.of('worker')).toHaveLength(1);
  vi.advanceTimersByTime(11_000);
  given.forgetSilent();
  expect(given.of('worker')).toEqual([]);
});

it('one that its worker still ends keeps it', () => {
  const { given, alive } = start();
  given.cancel([ATTEMPT.attemptId]);
  vi.advanceTimersByTime(29_000);
  alive();
  vi.advanceTimersByTime(29_000);
  given.forgetSilent();
  expect(given.of('worker')).toHaveLength(1);
});

it('one that nobody has cancelled is waited for much longer', () => {
  const { given } = start();
  vi.advanceTimersByTime(4 * 60_000);
  given.forgetSilent();
  expect(given.of('worker')).toHaveLength(1);
  vi.advanceTimersByTime(61_000);
  given.forgetSilent();
  expect(given.of('worker')).toEqual([]);
});

describe('an attempt whose start is being written', () => {
  const ordered = async () => {
    const all = start({ accepts: false });
    const { promise: started, resolve } = Promise.withResolvers<StartedAhead>();
    await all.given.acceptAhead(ATTEMPT, 'worker', started);
    const settle = async (with_: StartedAhead): Promise<void> => {
      resolve(with_);
      await vi.advanceTimersByTimeAsync(0);
    };
    return { ...all, started, settle };
  };
  const STARTED = new Map([[ATTEMPT.attemptId, {} as HandedOver]]);

  it('is ordered at once, and again when the worker comes back, with what becomes of its start for as long as nobody knows', async () => {
    const { given, started, settle, send, startEarly, lost } = await ordered();
    expect(send).toHaveBeenCalledTimes(1);
    given.connected('worker');
    await vi.advanceTimersByTimeAsync(0);
    await settle(STARTED);
    given.connected('worker');
    await vi.advanceTimersByTimeAsync(0);
    expect(startEarly.mock.calls.map(([, worker]) => worker)).toEqual([
      { hostname: 'host', started },
      { hostname: 'host', started },
      { hostname: 'host', started: undefined },
    ]);
    expect(send).toHaveBeenCalledTimes(3);
    expect(lost).not.toHaveBeenCalled();
  });

  it('is lost when it is stored and its worker has ended before: nobody can have begun it', async () => {
    const { given, settle, lost } = await ordered();
    given.lose(given.remove('worker'), { cause: 'agent_lost' });
    await vi.advanceTimersByTimeAsync(0);
    lost.mockClear(); // there was nothing to lose yet
    await settle(STARTED);
    expect(lost.mock.calls).toEqual([[ATTEMPT, expect.objectContaining({ cause: 'agent_lost' }), { hasBegun: false }]]);
  });

  it('is nothing to lose when it was not stored', async () => {
    const { given, settle, lost } = await ordered();
    given.lose(given.remove('worker'), { cause: 'agent_lost' });
    await vi.advanceTimersByTimeAsync(0);
    lost.mockClear();
    await settle(undefined);
    expect(lost).not.toHaveBeenCalled();
  });
});
