/**
 * The lease of an attempt. Every answer of the control plane renews it, counted from when the call was made, because
 * the control plane cannot have counted from earlier. The task must end shortly before the lease does.
 */
export type Lease = {
  /** `ms` 0: no other process would take the attempt over. */
  renew(askedAt: number, ms: number): void;
  hasEnded(): boolean;
};

/** Time to end the process, and a margin for clocks of different speed. */
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
