/** Runs at most a fixed number of works at once, in the order of arrival. */
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
  /**
   * The place passes directly to the next work. If the count went down and up, a newcomer could take the place in
   * between.
   */
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
