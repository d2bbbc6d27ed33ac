/** Renews a lease in the database while the work lasts, and signals when the lease is lost. */
export type Lease = {
  /** Aborts before another process may take the lease. */
  readonly signal: AbortSignal;
  end(): void;
};

/** Work in progress needs a moment to stop when the lease is lost. */
const MARGIN = 0.25;

export function holdLease(input: { leaseMs: number; renew: () => Promise<boolean>; signal: AbortSignal }): Lease {
  const { leaseMs, renew } = input;
  const lost = new AbortController();
  const stop = () => lost.abort(new Error('the lease was lost'));
  let limit = setTimeout(stop, leaseMs * (1 - MARGIN));
  const timer = setInterval(() => {
    const asked = performance.now();
    renew()
      .then((isHeld) => {
        clearTimeout(limit);
        const left = leaseMs * (1 - MARGIN) - (performance.now() - asked);
        if (!isHeld || left <= 0) stop();
        else limit = setTimeout(stop, left);
      })
      .catch(() => {}); // the database is unreachable: the time limit decides
  }, leaseMs / 4);
  return {
    signal: AbortSignal.any([lost.signal, input.signal]),
    end() {
      clearTimeout(limit);
      clearInterval(timer);
    },
  };
}
