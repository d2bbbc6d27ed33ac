import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AttemptObserver } from '../agents/service-options.ts';
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

function start() {
  let observer: AttemptObserver | undefined;
  const given = createWorkerAttempts({
    service: { observe: (one) => void (observer = one), startEarly: () => undefined },
    credentials: { issueAttempt: async () => 'token' },
    attempts: { lost: async () => undefined, triggererLost: async () => undefined },
    onRoom: () => undefined,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const announced = { isConnected: () => true, send: () => true, dismiss: () => undefined };
  given.add('worker', { announced, hostname: () => 'host' });
  given.accept(ATTEMPT, 'worker');
  return { given, alive: () => observer?.alive(ATTEMPT.attemptId) };
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
