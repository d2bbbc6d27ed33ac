/** One measured number, with everything that is needed to understand it. */
export type Figure = { bench: string; figure: string; value: number; unit: string } & Record<string, string | number>;

export type BenchOptions = {
  /** Returns the value of a numeric option, or the default. */
  number(option: 'seconds' | 'runs' | 'minutes' | 'seed' | 'times' | 'models', otherwise: number): number;
  text(option: 'only' | 'profile' | 'roles'): string | undefined;
  print(figure: Figure): void;
  /** Reports progress to people. */
  say(message: string): void;
};

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
