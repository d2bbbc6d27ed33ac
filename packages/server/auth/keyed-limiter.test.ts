import { describe, expect, it } from 'vitest';
import { QueueFullError, createKeyedLimiter } from './keyed-limiter.ts';

/** Work that ends when the test says so, and knows how much of it ran at once. */
function createWork() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      started.push(name);
      ends.set(name, () => resolve(name));
    });
  return { started, work, end: (name: string) => ends.get(name)?.() };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the keyed limiter', () => {
  it('let one key work on one thing at a time, in the order of asking', async () => {
    const limiter = createKeyedLimiter({ atOnce: 5, waitingPerKey: 10 });
    const { started, work, end } = createWork();
    const results = ['a1', 'a2', 'a3'].map((name) => limiter.take('a', work(name)));
    await settled();
    expect(started).toEqual(['a1']);
    end('a1');
    await settled();
    expect(started).toEqual(['a1', 'a2']);
    end('a2');
    await settled();
    end('a3');
    expect(await Promise.all(results)).toEqual(['a1', 'a2', 'a3']);
  });

  it('never run more than so many at once, over all keys', async () => {
    const limiter = createKeyedLimiter({ atOnce: 2, waitingPerKey: 10 });
    const { started, work, end } = createWork();
    for (const key of ['a', 'b', 'c', 'd']) void limiter.take(key, work(key));
    await settled();
    expect(started).toEqual(['a', 'b']);
    end('b');
    await settled();
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('refuse a key that has too many waiting, and only that key', async () => {
    const limiter = createKeyedLimiter({ atOnce: 5, waitingPerKey: 2 });
    const { work, end } = createWork();
    void limiter.take('a', work('a1'));
    void limiter.take('a', work('a2'));
    await expect(limiter.take('a', work('a3'))).rejects.toBeInstanceOf(QueueFullError);
    const other = limiter.take('b', work('b1'));
    await settled();
    end('b1');
    expect(await other).toBe('b1');
  });

  it('pass on after a failure, which only its own caller sees', async () => {
    const limiter = createKeyedLimiter({ atOnce: 1, waitingPerKey: 5 });
    const failing = limiter.take('a', () => Promise.reject(new Error('database away')));
    const next = limiter.take('a', () => Promise.resolve('served'));
    await expect(failing).rejects.toThrow('database away');
    expect(await next).toBe('served');
  });

  it('make room again when the queue of a key has emptied', async () => {
    const limiter = createKeyedLimiter({ atOnce: 1, waitingPerKey: 1 });
    for (let round = 0; round < 3; round += 1) {
      expect(await limiter.take('a', () => Promise.resolve(round))).toBe(round);
      await settled();
    }
  });
});
