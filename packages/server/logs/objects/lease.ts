/** Holds what was taken in the database for as long as the work lasts, and says when it could not be held. */
export type Lease = {
  /** Aborted in time: before anybody else may take it. */
  readonly signal: AbortSignal;
  end(): void;
};

/** What is under way when the lease is lost needs a moment to stop. */
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
      .catch(() => {}); // the database is away: the limit decides
  }, leaseMs / 4);
  return {
    signal: AbortSignal.any([lost.signal, input.signal]),
    end() {
      clearTimeout(limit);
      clearInterval(timer);
    },
  };
}
