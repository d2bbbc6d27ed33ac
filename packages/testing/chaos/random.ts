/** Random numbers that a seed repeats, so that a chaos run that found something can be run again. */
export type Random = {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
};

/** mulberry32: 32 bits of state are plenty for choosing faults. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    below: (limit) => Math.floor(next() * limit),
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
}
