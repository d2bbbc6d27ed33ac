/**
 * Starts that are made when an order goes out, or before, instead of when its worker asks: by the time it asks, the answer is
 * there. `Start` hands it over, once; an attempt that nobody asks about is as if its worker had asked and then gone silent.
 * Until it is known how it went nobody is answered, because nothing may be stored yet.
 *
 * Measured with `bench -- runs --only tasks`, trigger to body: see docs/performance.md.
 */
import type { PreparedStart } from './start-attempt.ts';

export type EarlyStarts = {
  begin(attemptId: string, start: () => Promise<PreparedStart>): void;
  /** `ageMs`: how much of the lease that began with it has gone. Undefined: there is none, or it failed. */
  take(attemptId: string): Promise<{ reply: PreparedStart; ageMs: number } | undefined>;
  /** It is known how it went, or there is none. */
  settled(attemptId: string): Promise<unknown>;
};

type Early = { reply: Promise<PreparedStart | undefined>; begunAt: number; forgetting?: NodeJS.Timeout };

/** A worker asks at once. It holds secrets, so it is not kept for those that do not. */
const KEPT_MS = 1_000;

export function createEarlyStarts(): EarlyStarts {
  const early = new Map<string, Early>();
  return {
    begin(attemptId, start) {
      // Whatever went wrong goes wrong again when the worker asks, and is answered there.
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
