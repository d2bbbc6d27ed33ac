import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noCounts } from './counts.ts';
import { decodeCounts, encodeCounts } from './encode.ts';
import type { UpstreamCounts } from './types.ts';

const anyCounts = fc.array(fc.nat(), { minLength: 11, maxLength: 11 }).map((numbers): UpstreamCounts => {
  const counts = noCounts();
  for (const [index, field] of (Object.keys(counts) as (keyof UpstreamCounts)[]).entries())
    counts[field] = numbers[index] ?? 0;
  return counts;
});

describe('upstream counters as text', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(anyCounts, (counts) => {
        expect(decodeCounts(encodeCounts(counts))).toEqual(counts);
      }),
    );
  });

  it('take a few characters for the usual task', () => {
    expect(encodeCounts(noCounts())).toBe('0');
    expect(encodeCounts({ ...noCounts(), total: 3, success: 1 })).toBe('3,1');
    expect(encodeCounts({ ...noCounts(), total: 1, excluded: 1 })).toBe('1,0,0,0,0,0,0,0,0,0,1');
  });

  it.each(['', '1,', 'x', '1,-1', '1, 2', '1.5', '1,2,3,4,5,6,7,8,9,10,11,12'])(
    '%j is refused, not read as something',
    (text) => {
      expect(() => decodeCounts(text)).toThrow(`Upstream counters ${JSON.stringify(text)} cannot be read`);
    },
  );
});
