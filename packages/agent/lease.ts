/**
 * How long an attempt is this agent's. It is renewed by every answer of the control plane, counted from when the call
 * was made: the control plane cannot have counted from earlier. A little before the end the task must be gone.
 */
export type Lease = {
  /** `ms` 0: nobody would take the attempt over. */
  renew(askedAt: number, ms: number): void;
  hasEnded(): boolean;
};

/** Left for ending the process, and for clocks that do not run at the same pace. */
const SPARE_SHARE = 1 / 5;

export function createLease(now: () => number = () => performance.now()): Lease {
  let endsAt = Infinity;
  return {
    renew(askedAt, ms) {
      endsAt = ms > 0 ? askedAt + ms * (1 - SPARE_SHARE) : Infinity;
    },
    hasEnded: () => now() >= endsAt,
  };
}
