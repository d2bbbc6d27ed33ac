/**
 * Starts that are made when an order goes out, instead of when its worker asks: by the time it asks, the answer is
 * there. `Start` hands it over, once; an attempt that nobody asks about is as if its worker had asked and then gone silent.
 *
 * Measured with `bench -- runs --only tasks`, trigger to body: see docs/performance.md.
 */
import type { PreparedStart } from './start-attempt.ts';

export type EarlyStarts = {
  begin(attemptId: string, start: () => Promise<PreparedStart>): void;
  /** `ageMs`: how much of the lease that began with it has gone. Undefined: there is none, or it failed. */
  take(attemptId: string): Promise<{ reply: PreparedStart; ageMs: number } | undefined>;
};

type Early = { reply: Promise<PreparedStart | undefined>; begunAt: number; forget: NodeJS.Timeout };

/** A worker asks at once. It holds secrets, so it is not kept for those that do not. */
const KEPT_MS = 1_000;

export function createEarlyStarts(): EarlyStarts {
  const early = new Map<string, Early>();
  return {
    begin(attemptId, start) {
      clearTimeout(early.get(attemptId)?.forget);
      const forget = setTimeout(() => early.delete(attemptId), KEPT_MS);
      forget.unref();
      // Whatever went wrong goes wrong again when the worker asks, and is answered there.
      early.set(attemptId, { begunAt: performance.now(), reply: start().catch(() => undefined), forget });
    },
    async take(attemptId) {
      const known = early.get(attemptId);
      if (!known) return undefined;
      early.delete(attemptId);
      clearTimeout(known.forget);
      const reply = await known.reply;
      return reply && { reply, ageMs: performance.now() - known.begunAt };
    },
  };
}
