/** How long requests wait for a connection. The pool and the timer are played, so that nothing depends on the machine. */
import type pg from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createConnectionQueue } from './connection-queue.ts';
import type { ConnectionQueue } from './connection-queue.ts';
import { DatabaseBusyError, DatabaseUnavailableError } from './outage.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const OPEN_TIMEOUT_MS = 20_000;

type Connection = pg.PoolClient & { isReleased: boolean };
type Fetch = { resolve: (client: Connection) => void; reject: (error: Error) => void };

let queue: ConnectionQueue;
let fetches: Fetch[];
let state: { answers: number; opening: number; received: boolean; stillAnswers: boolean };

beforeEach(() => {
  vi.useFakeTimers();
  fetches = [];
  state = { answers: 0, opening: 0, received: false, stillAnswers: true };
  const pool = {
    connect: () => new Promise<Connection>((resolve, reject) => fetches.push({ resolve, reject })),
    waitingCount: 0,
    totalCount: 3,
  } as unknown as pg.Pool;
  queue = createConnectionQueue({
    pool,
    opening: {
      count: () => state.opening,
      haveReceived: () => state.received,
      closeSilent: () => undefined,
    },
    limits: { connectTimeoutMs: CONNECT_TIMEOUT_MS, openTimeoutMs: OPEN_TIMEOUT_MS },
    answers: () => state.answers,
    stillAnswers: () => Promise.resolve(state.stillAnswers),
  });
});
afterEach(() => {
  queue.stop();
  vi.useRealTimers();
});

function makeConnection(): Connection {
  const client = { isReleased: false, release: () => (client.isReleased = true) };
  return client as unknown as Connection;
}

/** Of each request, what it got, or `waiting`. */
function request(): { outcome: unknown } {
  const asked: { outcome: unknown } = { outcome: 'waiting' };
  queue.connect().then(
    (client) => (asked.outcome = client),
    (error: Error) => (asked.outcome = error.constructor),
  );
  return asked;
}

it('a request gets the connection that another request releases while its own still opens', async () => {
  const waiting = request();
  const released = makeConnection();
  queue.release(released, false);
  await vi.advanceTimersByTimeAsync(0);
  expect(waiting.outcome).toBe(released);
  const late = makeConnection();
  fetches[0]?.resolve(late);
  await vi.advanceTimersByTimeAsync(0);
  expect([released.isReleased, late.isReleased, queue.waiting()]).toEqual([false, true, 0]);
});

it('a connection that has to be closed is given to no other request', async () => {
  const waiting = request();
  const lost = makeConnection();
  queue.release(lost, true);
  await vi.advanceTimersByTimeAsync(0);
  expect([waiting.outcome, lost.isReleased]).toEqual(['waiting', true]);
});

it('a request of which the connection cannot be opened fails, and others keep theirs', async () => {
  const [first, second] = [request(), request()];
  fetches[1]?.reject(new Error('connect ECONNREFUSED'));
  await vi.advanceTimersByTimeAsync(0);
  expect([first.outcome, second.outcome]).toEqual(['waiting', DatabaseUnavailableError]);
});

it('a request does not wait for ever when an earlier request took its connection and the other one fails', async () => {
  const [first, second] = [request(), request()];
  const opened = makeConnection();
  fetches[1]?.resolve(opened);
  fetches[0]?.reject(new Error('connect ECONNREFUSED'));
  await vi.advanceTimersByTimeAsync(0);
  expect([first.outcome, second.outcome]).toEqual([opened, DatabaseUnavailableError]);
});

it.each([
  ['all connections are in use', { opening: 0, stillAnswers: true }, DatabaseBusyError],
  [
    'all connections are in use and the database is silent',
    { opening: 0, stillAnswers: false },
    DatabaseUnavailableError,
  ],
  ['a connection opens and the database is silent', { opening: 1 }, DatabaseUnavailableError],
])('a request waits 5 s when %s', async (_, given, expected) => {
  Object.assign(state, given);
  const waiting = request();
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT_MS);
  expect(waiting.outcome).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(waiting.outcome).toBe(expected);
});

it.each([
  ['has answered on another connection', () => (state.answers += 1)],
  ['has begun to answer on the new one', () => (state.received = true)],
])('a request waits 20 s for a connection that opens when the database %s', async (_, answer) => {
  state.opening = 1;
  const waiting = request();
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT_MS - 1_000);
  answer();
  await vi.advanceTimersByTimeAsync(OPEN_TIMEOUT_MS - CONNECT_TIMEOUT_MS);
  expect(waiting.outcome).toBe('waiting');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(waiting.outcome).toBe(DatabaseBusyError);
});

it('a pause of this process does not count as silence of the database', async () => {
  state.opening = 1;
  const waiting = request();
  // After a pause, a timer runs once, before anything that has arrived is read.
  for (const hours of [1, 2, 3]) {
    vi.setSystemTime(Date.now() + hours * 3_600_000);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(waiting.outcome).toBe('waiting');
});

it('when Postgres has no connection left, a request gets one of ours, or the reason after 5 s', async () => {
  const full = Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
  const [first, second] = [request(), request()];
  for (const fetch of fetches) fetch.reject(full);
  await vi.advanceTimersByTimeAsync(1_000);
  const released = makeConnection();
  queue.release(released, false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([first.outcome, second.outcome]).toEqual([released, 'waiting']);
  await vi.advanceTimersByTimeAsync(CONNECT_TIMEOUT_MS);
  expect(second.outcome).toBe(DatabaseUnavailableError);
});
