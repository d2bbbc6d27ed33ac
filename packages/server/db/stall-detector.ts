/**
 * Notices a database that has stopped answering without closing anything: a paused machine, a dead network path. A slow
 * statement looks the same from its own connection, so this asks on another one. As long as that gets an answer, a
 * statement may take the time the statement timeout gives it; otherwise every statement that waits is given up, and its
 * request is told 503 after seconds instead of after the statement timeout.
 */
import type pg from 'pg';

export type StallDetector = {
  /** Call when a statement is sent on this connection, and what it returns when the answer is there. */
  sent(client: pg.PoolClient): () => void;
  /** Whether the database answers; waits for the answer while that is just being found out. */
  stillAnswers(): Promise<boolean>;
  stop(): void;
};

export function createStallDetector(options: {
  /** How long a statement may take before anybody wonders. */
  suspectAfterMs: number;
  /** How long one may take at all: Postgres should have cancelled it, so its connection is dead though others are not. */
  deadAfterMs: number;
  /** Whether the database answers on a new connection. Must settle in bounded time. */
  answers: () => Promise<boolean>;
}): StallDetector {
  const { suspectAfterMs, deadAfterMs, answers } = options;
  /** Statements on their way, of which several may travel together, and since when nothing was heard. */
  const sent = new Map<pg.PoolClient, { since: number; count: number }>();
  /** While it is being found out. */
  let question: Promise<boolean> | undefined;

  const silentFor = (ms: number): pg.PoolClient[] => {
    const limit = performance.now() - ms;
    return [...sent].filter(([, { since }]) => since <= limit).map(([client]) => client);
  };

  async function look(): Promise<void> {
    for (const client of silentFor(deadAfterMs)) cutConnection(client, 'Connection terminated: no answer in time');
    if (question || silentFor(suspectAfterMs).length === 0) return;
    question = answers();
    try {
      if (await question) return;
      for (const client of silentFor(suspectAfterMs))
        cutConnection(client, 'Connection terminated: the database does not answer');
    } finally {
      question = undefined;
    }
  }

  // One timer for all statements: a timer for each would cost more than the map does.
  const timer = setInterval(() => void look(), suspectAfterMs / 2).unref();
  return {
    sent(client) {
      const waiting = sent.get(client) ?? { since: 0, count: 0 };
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

/** Closes the socket without the protocol's goodbye, which a database that does not answer would never acknowledge. */
export function cutConnection(client: pg.Client, reason: string): void {
  client.connection.stream.destroy(new Error(reason));
}
