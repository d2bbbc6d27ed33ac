/**
 * One connection to Redis that never makes anybody wait for long, and its circuit breaker:
 *
 *   away ──probe: connect, authenticate, PING, each in time──▶ ready
 *   ready ──an answer that is late, or the connection lost──▶ away; the next probe comes after a pause
 *
 * Away, commands are refused at once: nothing is queued. Probes are the half-open state: no request ever is one. The pause
 * doubles up to 15 s, and begins anew when a command has been answered: a Redis that only takes connections but answers nothing
 * is asked less and less often.
 */
import type { createClient } from '@redis/client';
import { ANSWER_WITHIN_MS, clientOptions } from './settings.ts';
import type { RedisSettings } from './settings.ts';

export type RedisClient = ReturnType<typeof createClient>;

export type LinkState = {
  status: 'connecting' | 'ready' | 'away';
  /** Why it is away; null otherwise. Never with a password. */
  reason: string | null;
};

export type Link = {
  state(): LinkState;
  /** Undefined: away, or not answered in time. What Redis refuses is thrown (`ErrorReply`). */
  use<T>(command: (client: RedisClient) => Promise<T>): Promise<T | undefined>;
  close(): void;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** A connection nobody uses is asked for a sign of life so often, so that health is the truth. */
const CHECK_EVERY_MS = 5_000;

export function openLink(options: {
  settings: RedisSettings;
  /** Also for another reason of the same absence. */
  onState: (state: LinkState, before: LinkState) => void;
  /** Part of becoming ready. */
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
    if (isClosed || lost !== client) return; // another one is in use already
    client = undefined;
    if (lost) cut(lost);
    become({ status: 'away', reason });
    later(probe, pauseMs * (0.75 + Math.random() / 2)); // not all processes at once
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async function probe(): Promise<void> {
    let fresh: RedisClient | undefined;
    try {
      const { createClient } = await import('@redis/client');
      const made: RedisClient = createClient(clientOptions(settings)) as unknown as RedisClient;
      fresh = made;
      made.on('error', (error: Error) => lose(made, wordsOf(error))); // without a listener it would end the process
      made.on('end', () => lose(made, 'the connection was closed'));
      await answered(
        (async () => {
          await made.connect();
          await made.ping();
          await options.onConnected?.(made);
        })(),
        2 * withinMs, // several round trips, and a handshake
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
    await use((connection) => connection.ping()).catch(() => {}); // a refusal is an answer
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

/** The library's own limit ends when a command is on its way. */
function answered<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // One more turn: answers that lie there already count, when it was this process that was late.
    const timer = setTimeout(() => setImmediate(() => reject(new TooLate(withinMs))), withinMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** What waits for an answer on it is told so. */
function cut(client: RedisClient): void {
  try {
    client.destroy();
  } catch {
    // it never was open
  }
}

/** Redis answered, and the answer was no. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof Error && ['ErrorReply', 'SimpleError', 'BlobError'].includes(error.constructor.name);

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return error.message === '' ? (code ?? error.constructor.name) : error.message;
}
