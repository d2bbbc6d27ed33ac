/**
 * Notices a database that has stopped answering without closing anything: a paused machine, a dead network path. A slow
 * statement looks the same from its own connection, so this asks on another one (watch-connection.ts), and what it hears decides:
 *
 *   - No answer there either: every statement that waits is given up, and its request is told 503 after seconds instead of after
 *     the statement timeout.
 *   - The backend is at work: the statement may take the time the statement timeout gives it.
 *   - The backend waits for us as we wait for it, at two looks in a row: that connection is lost, and only that one.
 */
import type pg from 'pg';
import { backendOf, cutConnection } from './watch-connection.ts';
import type { Watch } from './watch-connection.ts';

export type StallDetector = {
  /** Call when a statement is sent on this connection, and what it returns when the answer is there. */
  sent(client: pg.PoolClient): () => void;
  /** Whether the database answers; waits for the answer while that is just being found out. */
  stillAnswers(): Promise<boolean>;
  stop(): void;
};

/** Statements on their way, of which several may travel together, and since when nothing was heard. */
type Waiting = { since: number; count: number; wasLostAt: number };

export function createStallDetector(options: {
  /** How long a statement may take before anybody wonders. */
  suspectAfterMs: number;
  /** How long one may take at all: Postgres should have cancelled it, so its connection is dead though others are not. */
  deadAfterMs: number;
  watch: Watch;
  /** Some connections are lost though the database answers: others may be as well, and nobody has used them yet. */
  onLost: () => void;
}): StallDetector {
  const { suspectAfterMs, deadAfterMs, watch, onLost } = options;
  const sent = new Map<pg.PoolClient, Waiting>();
  /** While it is being found out. */
  let question: Promise<boolean> | undefined;

  const silentFor = (ms: number): pg.PoolClient[] => {
    const limit = performance.now() - ms;
    return [...sent].filter(([, { since }]) => since <= limit).map(([client]) => client);
  };

  async function look(): Promise<void> {
    for (const client of silentFor(deadAfterMs)) cutConnection(client, 'Connection terminated: no answer in time');
    if (question || silentFor(suspectAfterMs).length === 0) return;
    question = ask();
    try {
      if (await question) return;
      for (const client of silentFor(suspectAfterMs))
        cutConnection(client, 'Connection terminated: the database does not answer');
    } finally {
      question = undefined;
    }
  }

  /** Whether the database answers. Cuts what is lost though it does. */
  async function ask(): Promise<boolean> {
    const suspects = new Map(silentFor(suspectAfterMs).map((client) => [client, sent.get(client)?.since]));
    const { answers, lost } = await watch.ask([...suspects.keys()].map(backendOf).filter((pid) => pid !== undefined));
    const given: number[] = [];
    for (const [client, since] of suspects) {
      const waiting = sent.get(client);
      const backend = backendOf(client);
      if (waiting === undefined || waiting.since !== since || backend === undefined || !lost.has(backend)) continue;
      // Its answer may have been under way: what the watch asked overtakes nothing on a line that is merely slow, but the next look makes sure.
      if (waiting.wasLostAt === since) {
        cutConnection(client, 'Connection terminated: it was lost on the way');
        given.push(backend);
      }
      waiting.wasLostAt = since;
    }
    if (given.length > 0) {
      onLost();
      void watch.end(given);
    }
    return answers;
  }

  // One timer for all statements: a timer for each would cost more than the map does.
  const timer = setInterval(() => void look(), suspectAfterMs / 2).unref();
  return {
    sent(client) {
      const waiting = sent.get(client) ?? { since: 0, count: 0, wasLostAt: 0 };
      if (waiting.count === 0) waiting.since = performance.now();
      waiting.count += 1;
      sent.set(client, waiting);
      return () => {
        waiting.count -= 1;
        waiting.since = performance.now(); // an answer is a sign of life for those behind it
        if (waiting.count === 0) sent.delete(client);
      };
    },
    stillAnswers: async () => question ?? true,
    stop: () => clearInterval(timer),
  };
}
