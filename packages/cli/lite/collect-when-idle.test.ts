import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { collectWhenIdle } from './collect-when-idle.ts';

const MIB = 2 ** 20;
const LOOK_MS = 10_000;

let cpu = 0;
let heap = 0;
let collections = 0;
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [cpu, heap, collections] = [0, 70 * MIB, 0];
  stop = collectWhenIdle({
    cpuSeconds: () => cpu,
    heapBytes: () => heap,
    collect() {
      collections += 1;
      cpu += 0.5;
      heap = 50 * MIB;
    },
  });
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

const pass = (cpuSeconds: number): void => {
  cpu += cpuSeconds;
  vi.advanceTimersByTime(LOOK_MS);
};

describe('memory that a start has left behind', () => {
  it('is collected in the first moment in which nobody does anything', () => {
    pass(8);
    pass(0.3);
    expect(collections).toBe(0);
    pass(0.03);
    expect(collections).toBe(1);
  });

  it('is collected again only when it has grown, and its own work is not taken for work', () => {
    pass(0.03);
    expect(collections).toBe(1);
    for (let look = 0; look < 5; look += 1) pass(0.03);
    expect(collections).toBe(1);
    heap = 59 * MIB;
    pass(0.03);
    expect(collections).toBe(2);
  });

  it('is left alone by one that was stopped', () => {
    stop();
    pass(0.03);
    expect(collections).toBe(0);
  });
});
