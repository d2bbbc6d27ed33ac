/** At most so many at a time, first come first served. */
export type Limit = {
  run<T>(work: () => Promise<T>): Promise<T>;
};

export function createLimit(max: number): Limit {
  let active = 0;
  const waiting: (() => void)[] = [];

  const enter = async (): Promise<void> => {
    if (active < max) active += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  /** The place goes straight to the next in line: counted down and up again, a newcomer could slip in between. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else active -= 1;
  };

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
