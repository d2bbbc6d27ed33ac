/**
 * How long single turns of this thread's event loop were held, in processor time: what else the machine does at the same time
 * does not count. A timer that is due every two milliseconds looks at what has been used since it last ran.
 */
const EVERY_MS = 2;

export type HeldTurns = {
  /** The longest since it was last asked, in milliseconds. */
  longest(): number;
  stop(): void;
};

export function watchHeldTurns(): HeldTurns {
  let longest = 0;
  let last = usedMs();
  const look = (): void => {
    const now = usedMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    longest() {
      look();
      const found = longest;
      longest = 0;
      return found;
    },
    stop: () => clearInterval(timer),
  };
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** What this machine, at this moment, takes to parse and write a MiB of JSON: what other work is measured against. */
export function calibrate(): number {
  const text = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => ({ id: n, name: `n${n}` })));
  const samples = Array.from({ length: 5 }, () => {
    const before = usedMs();
    JSON.stringify(JSON.parse(text));
    return usedMs() - before;
  });
  return samples.toSorted((a, b) => a - b)[2] ?? Number.NaN;
}
