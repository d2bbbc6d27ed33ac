import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEarlyStarts } from './early-starts.ts';

const REPLY = { stop: { reason: 'only a test' } };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a start that was made early', () => {
  it('is handed over once, with the time that has gone since it began', async () => {
    const early = createEarlyStarts();
    early.begin('a', async () => REPLY);
    await vi.advanceTimersByTimeAsync(300);
    expect(await early.take('b')).toBeUndefined();
    expect(await early.take('a')).toEqual({ reply: REPLY, ageMs: 300 });
    expect(await early.take('a')).toBeUndefined();
  });

  it('is waited for while it is under way', async () => {
    const early = createEarlyStarts();
    const start = Promise.withResolvers<typeof REPLY>();
    early.begin('a', () => start.promise);
    // Asked again, because the line broke meanwhile: an answer without it would be that nothing is stored.
    const taken = [early.take('a'), early.take('a')];
    let isSettled = false;
    void early.settled('a').then(() => (isSettled = true));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(isSettled).toBe(false);
    start.resolve(REPLY);
    for (const one of taken) expect((await one)?.reply).toEqual(REPLY);
    await early.settled('a');
    expect(await early.take('a')).toBeUndefined();
  });

  it('is kept from when it is there', async () => {
    const early = createEarlyStarts();
    const start = Promise.withResolvers<typeof REPLY>();
    early.begin('a', () => start.promise);
    await vi.advanceTimersByTimeAsync(5_000);
    start.resolve(REPLY);
    await vi.advanceTimersByTimeAsync(900);
    expect(await early.take('a')).toEqual({ reply: REPLY, ageMs: 5_900 });
  });

  it('is nothing when it failed, and is forgotten when nobody asks', async () => {
    const early = createEarlyStarts();
    early.begin('failed', () => Promise.reject(new Error('the database is away')));
    expect(await early.take('failed')).toBeUndefined();
    early.begin('unasked', async () => REPLY);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(await early.take('unasked')).toBeUndefined();
  });

  it('of an order that was sent again is the newer one, for as long as any', async () => {
    const early = createEarlyStarts();
    early.begin('a', async () => ({ stop: { reason: 'the first' } }));
    await vi.advanceTimersByTimeAsync(900);
    early.begin('a', async () => REPLY);
    await vi.advanceTimersByTimeAsync(900);
    expect(await early.take('a')).toEqual({ reply: REPLY, ageMs: 900 });
  });
});
