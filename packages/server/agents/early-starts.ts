/**
 * Early starts: an attempt is started when its order is sent, or before, so that the answer is ready when its worker
 * asks. `Start` returns it once. An unclaimed early start counts as a worker that started and went silent. `Start`
 * answers only after the result of the transaction is known, because nothing may be stored yet.
 *
 * `npm run bench -- runs --only tasks` measures it, from the trigger to the body.
 */
import type { PreparedStart } from './start-attempt.ts';

export type EarlyStarts = {
  begin(attemptId: string, start: () => Promise<PreparedStart>): void;
  /** `ageMs`: how much of its lease has passed. Undefined: there is no early start, or it failed. */
  take(attemptId: string): Promise<{ reply: PreparedStart; ageMs: number } | undefined>;
  /** Resolves when the result is known, or there is no early start. */
  settled(attemptId: string): Promise<unknown>;
};

type Early = { reply: Promise<PreparedStart | undefined>; begunAt: number; forgetting?: NodeJS.Timeout };

/** A worker asks at once. The answer contains secrets, so it is not kept longer than necessary. */
const KEPT_MS = 1_000;

export function createEarlyStarts(): EarlyStarts {
  const early = new Map<string, Early>();
  return {
    begin(attemptId, start) {
      // An error here occurs again when the worker asks, and is reported there.
      const known: Early = { begunAt: performance.now(), reply: start().catch(() => undefined) };
      early.set(attemptId, known);
      void known.reply.then(() => {
        known.forgetting = setTimeout(() => forget(attemptId, known), KEPT_MS).unref();
      });
    },
    async take(attemptId) {
      const known = early.get(attemptId);
      if (!known) return undefined;
      const reply = await known.reply;
      forget(attemptId, known);
      return reply && { reply, ageMs: performance.now() - known.begunAt };
    },
    settled: async (attemptId) => early.get(attemptId)?.reply,
  };

  function forget(attemptId: string, known: Early): void {
    clearTimeout(known.forgetting);
    if (early.get(attemptId) === known) early.delete(attemptId);
  }
}
