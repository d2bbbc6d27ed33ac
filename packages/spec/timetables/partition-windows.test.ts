// What Airflow 3.3.2 answers for rollups, fan-outs and wait policies (scripts/golden/partition_windows.py).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectedKeys, mapKeys, mapperProblems, partitionDateOf } from './partition-mappers.ts';
import type { PartitionMapper } from './partition-mappers.ts';
import { isEnough } from './partition-windows.ts';
import type { WaitPolicy } from './partition-windows.ts';

type Golden = {
  cases: {
    mapper: PartitionMapper;
    key: string;
    keys: string[];
    /** Absent: the mapper is no rollup. Null: Airflow refuses the key. */
    expected?: string[] | null;
    /** Seconds since 1970. */
    date: number | null;
  }[];
  policies: [WaitPolicy, number, number, boolean][];
};
const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'partition-windows-golden.json'), 'utf8')) as Golden;

const day = {
  mapper: 'start_of',
  unit: 'day',
  input_format: '%Y',
  output_format: '%Y-%m-%d',
  timezone: 'UTC',
} as const;

describe('windows of partitions as Airflow 3.3 has them', () => {
  it('random rollups and fan-outs start the runs, wait for the events and have the dates that Airflow says', () => {
    const wrong = golden.cases.flatMap(({ mapper, key, keys, expected, date }) => {
      const mapped = mapKeys(mapper, key);
      const found = {
        keys: mapped.ok ? mapped.keys : [],
        date: (partitionDateOf(mapper, keys[0] ?? '') ?? Number.NaN) / 1e6,
        ...(mapper.mapper === 'rollup' && { expected: awaited(mapper, keys[0] ?? '') }),
      };
      const theirs = { keys, date: date ?? Number.NaN, ...(expected !== undefined && { expected }) };
      return JSON.stringify(found) === JSON.stringify(theirs) ? [] : [{ mapper, key, theirs, found }];
    });
    expect(golden.cases.length).toBeGreaterThan(200);
    expect(wrong).toEqual([]);
  });

  it('a policy is satisfied by as many events as in Airflow, also by none of none', () => {
    const wrong = golden.policies.filter(
      ([policy, received, expected, isSatisfied]) => isEnough(policy, { received, expected }) !== isSatisfied,
    );
    expect(wrong).toEqual([]);
  });

  it('the table of an own policy says how many keys of a window are enough', () => {
    const policy = { wait: 'table' as const, counts: [{ expected: 28, count: 26 }] };
    expect([25, 26].map((received) => isEnough(policy, { received, expected: 28 }))).toEqual([false, true]);
    expect([30, 31].map((received) => isEnough(policy, { received, expected: 31 }))).toEqual([false, true]);
  });

  it('a fan-out to more runs than it allows starts none, and a window of other parts than its mapper is a problem', () => {
    const upstream = { ...day, unit: 'year', output_format: '%Y' } as const;
    const window = { window: 'year', direction: 'forward' } as const;
    const months = { mapper: 'fan_out', upstream, window, downstream: { ...day, unit: 'month' } } as const;
    expect(mapKeys({ ...months, max_keys: 12 }, '2026')).toMatchObject({ ok: true });
    expect(mapKeys({ ...months, max_keys: 11 }, '2026')).toEqual({
      ok: false,
      problem: 'the mapper returns 12 partition keys for one event, and 11 is the most',
    });
    expect(mapperProblems({ ...months, upstream: { mapper: 'identity' } })).toEqual([
      'a window of year does not fit the upstream mapper identity',
    ]);
  });
});

function awaited(mapper: Extract<PartitionMapper, { mapper: 'rollup' }>, key: string): string[] | null {
  const found = expectedKeys(mapper, key);
  return found.ok ? found.keys.toSorted() : null;
}
