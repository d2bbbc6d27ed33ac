/**
 * Detects a database that has stopped answering without closing anything: a paused machine, a dead network path. A slow
 * statement looks the same on its own connection, so this asks on another one (watch-connection.ts). The answer
 * decides:
 *
 *   - No answer there either, nor on any other connection in that time: every pending statement is given up. Its request
 *     gets 503 after seconds, instead of after the statement timeout.
 *   - The backend is working: the statement may take as long as the statement timeout.
 *   - The backend waits for this process while this process waits for it, at two checks in a row: only that connection
 *     is lost.
 */
import type pg from 'pg';
import { backendOf, cutConnection } from './watch-connection.ts';
import type { Watch } from './watch-connection.ts';

export type StallDetector = {
  /** Call it when a statement is sent on this connection, and call its result when the answer has arrived. */
  sent(client: pg.PoolClient): () => void;
  /** Returns whether the database answers. Waits for a check that is under way. */
  stillAnswers(): Promise<boolean>;
  stop(): void;
};

/** The pending statements of a connection, and since when nothing was received. */
type Waiting = { since: number; count: number; wasLostAt: number };

export function createStallDetector(options: {
  /** How long a statement may take before a check. */
  suspectAfterMs: number;
  /**
   * How long a statement may take at all. Postgres should have cancelled it by then, so its connection is dead even if
   * others are fine.
   */
  deadAfterMs: number;
  /** Returns how many statements the database has answered. */
  answers: () => number;
  watch: Watch;
  /** Called when some connections are lost although the database answers: unused ones may be lost as well. */
  onLost: () => void;
}): StallDetector {
  const { suspectAfterMs, deadAfterMs, watch, onLost } = options;
  const sent = new Map<pg.PoolClient, Waiting>();
  /** The check that is under way. */
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

  /** Returns whether the database answers. Cuts connections that are lost even though it does. */
  async function ask(): Promise<boolean> {
    const suspects = new Map(silentFor(suspectAfterMs).map((client) => [client, sent.get(client)?.since]));
    const before = options.answers();
    const { answers, lost } = await watch.ask([...suspects.keys()].map(backendOf).filter((pid) => pid !== undefined));
    const given: number[] = [];
    for (const [client, since] of suspects) {
      const waiting = sent.get(client);
      const backend = backendOf(client);
      if (waiting === undefined || waiting.since !== since || backend === undefined || !lost.has(backend)) continue;
      // Its answer may have been under way when the watch asked, on a connection that is only slow. The next check
      // makes sure.
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
    return answers || options.answers() > before; // a busy machine may open the connection of the watch too slowly
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
        waiting.since = performance.now(); // an answer shows that the statements after it are alive too
        if (waiting.count === 0) sent.delete(client);
      };
    },
    stillAnswers: async () => question ?? true,
    stop: () => clearInterval(timer),
  };
}
