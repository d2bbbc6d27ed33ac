/**
 * One connection to Redis with a circuit breaker. No caller waits long.
 *
 *   away ──probe: connect, authenticate, PING, each in time──▶ ready
 *   ready ──an answer that is late, or the connection lost──▶ away; the next probe comes after a pause
 *
 * In the state `away`, commands are refused at once and nothing is queued. Probes are the half-open state, and no
 * request serves as a probe. The pause doubles up to 15 s and is reset when a command has been answered. A Redis that
 * accepts connections but never answers is therefore probed less and less often.
 */
import type { createClient } from '@redis/client';
import { ANSWER_WITHIN_MS, clientOptions } from './settings.ts';
import type { RedisSettings } from './settings.ts';

export type RedisClient = ReturnType<typeof createClient>;

export type LinkState = {
  status: 'connecting' | 'ready' | 'away';
  /** Why it is away, otherwise null. It never contains a password. */
  reason: string | null;
};

export type Link = {
  state(): LinkState;
  /** Returns undefined if Redis is away or did not answer in time. Throws what Redis refuses (`ErrorReply`). */
  use<T>(command: (client: RedisClient) => Promise<T>): Promise<T | undefined>;
  close(): void;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** An idle connection is checked at this interval, so that the reported health is true. */
const CHECK_EVERY_MS = 5_000;

export function openLink(options: {
  settings: RedisSettings;
  /** Also called if only the reason of the outage changes. */
  onState: (state: LinkState, before: LinkState) => void;
  /** Must succeed before the link is ready. */
  onConnected?: (client: RedisClient) => Promise<unknown>;
  /** For tests. */
  checkEveryMs?: number;
}): Link {
  const { settings, checkEveryMs = CHECK_EVERY_MS } = options;
  const withinMs = settings.answerWithinMs ?? ANSWER_WITHIN_MS;
  let state: LinkState = { status: 'connecting', reason: null };
  let client: RedisClient | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let isClosed = false;

  const become = (next: LinkState): void => {
    const before = state;
    state = next;
    const isSame = next.status === before.status && next.reason === before.reason;
    if (!isSame && !isClosed) options.onState(next, before);
  };

  const later = (task: () => unknown, ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(task, ms).unref();
  };

  function lose(lost: RedisClient | undefined, reason: string): void {
    if (isClosed || lost !== client) return; // another connection is in use already
    client = undefined;
    if (lost) cut(lost);
    become({ status: 'away', reason });
    // The pause is random, so that the processes do not all probe at once.
    later(probe, pauseMs * (0.75 + Math.random() / 2));
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async function probe(): Promise<void> {
    let fresh: RedisClient | undefined;
    try {
      const { createClient } = await import('@redis/client');
      const made: RedisClient = createClient(clientOptions(settings)) as unknown as RedisClient;
      fresh = made;
      // Without a listener, the error would end the process.
      made.on('error', (error: Error) => lose(made, wordsOf(error)));
      made.on('end', () => lose(made, 'the connection was closed'));
      await answered(
        (async () => {
          await made.connect();
          await made.ping();
          await options.onConnected?.(made);
        })(),
        2 * withinMs, // a handshake and several round trips
      );
      if (isClosed) return cut(made);
      client = made;
      become({ status: 'ready', reason: null });
      later(check, checkEveryMs);
    } catch (error) {
      if (fresh) cut(fresh);
      lose(undefined, wordsOf(error));
    }
  }

  async function check(): Promise<void> {
    await use((connection) => connection.ping()).catch(() => {}); // a refusal is also an answer
    if (client) later(check, checkEveryMs);
  }

  async function use<T>(command: (client: RedisClient) => Promise<T>): Promise<T | undefined> {
    const used = client;
    if (!used) return undefined;
    try {
      const answer = await answered(command(used), withinMs);
      pauseMs = FIRST_PAUSE_MS;
      return answer;
    } catch (error) {
      if (isRefusal(error)) throw error;
      lose(used, wordsOf(error));
      return undefined;
    }
  }

  void probe();
  return {
    state: () => state,
    use,
    close() {
      isClosed = true;
      clearTimeout(timer);
      if (client) cut(client);
      client = undefined;
    },
  };
}

class TooLate extends Error {
  constructor(withinMs: number) {
    super(`no answer within ${withinMs} ms`);
  }
}

/** Limits the wait for an answer. The library's own limit ends when the command has been sent. */
function answered<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // Waits one more turn, because answers that have already arrived count if this process itself was late.
    const timer = setTimeout(() => setImmediate(() => reject(new TooLate(withinMs))), withinMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Closes the connection. Commands that wait for an answer are rejected. */
function cut(client: RedisClient): void {
  try {
    client.destroy();
  } catch {
    // The connection was never open.
  }
}

/** True if Redis answered with an error. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && ['ErrorReply', 'SimpleError', 'BlobError'].includes(error.constructor.name);

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return error.message === '' ? (code ?? error.constructor.name) : error.message;
}
