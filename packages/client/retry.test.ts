import { describe, expect, it } from 'vitest';
import { retry } from './retry.ts';

const passing = new Error('passing');
const isPassing = (error: unknown): boolean => error === passing;

/** Fails so many times, then succeeds. */
function failing(times: number, error: unknown = passing) {
  let calls = 0;
  const work = async (): Promise<number> => {
    calls += 1;
    if (calls <= times) throw error;
    return calls;
  };
  return { work, calls: () => calls };
}

describe('what failed', () => {
  it('for a passing reason is done again, with the pauses it is told', async () => {
    const asked: number[] = [];
    const told: unknown[] = [];
    const pauseMs = ({ index, elapsedMs, tookMs }: { index: number; elapsedMs: number; tookMs: number }): number => {
      expect(elapsedMs).toBeGreaterThanOrEqual(tookMs);
      asked.push(index);
      return 0;
    };
    expect(await retry(failing(3).work, { isPassing, pauseMs, onRetry: (error) => told.push(error) })).toBe(4);
    expect(asked).toEqual([0, 1, 2]);
    expect(told).toEqual([passing, passing, passing]);
  });

  it('for good is thrown as it is, after one try', async () => {
    const { work, calls } = failing(1, new Error('for good'));
    await expect(retry(work, { isPassing, pauseMs: () => 0 })).rejects.toThrow('for good');
    expect(calls()).toBe(1);
  });

  it('too often is thrown without another pause', async () => {
    const { work, calls } = failing(9);
    await expect(retry(work, { isPassing, pauseMs: ({ index }) => [0, 0][index] })).rejects.toBe(passing);
    expect(calls()).toBe(3);
  });

  it('is not done again when nobody waits any more, even in the middle of a pause', async () => {
    const stopping = new AbortController();
    const { work, calls } = failing(9);
    const done = retry(work, {
      isPassing,
      pauseMs: () => 1_000_000,
      onRetry: () => stopping.abort(new Error('stopped')),
      signal: stopping.signal,
    });
    await expect(done).rejects.toThrow('stopped');
    expect(calls()).toBe(1);
  });
});
