// What Airflow 3.2.2 answers for partition keys (scripts/golden/partitions.py), and what is refused.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { instantFromIso, instantToIso } from './instant.ts';
import { iterRuns, nextRun } from './next-run.ts';
import { mapKeys, mapperProblems } from './partition-mappers.ts';
import type { PartitionMapper } from './partition-mappers.ts';
import { isPartitioned } from './partition-runs.ts';
import type { CronPartitionTimetable, TimetableSpec } from './schema.ts';
import { timetableProblems } from './validate.ts';

type Golden = {
  mapped: [PartitionMapper, string, string | null][];
  runs: (Pick<CronPartitionTimetable, 'expression' | 'timezone' | 'run_offset'> & {
    runs: [string, string, string][];
  })[];
};
const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'partitions-golden.json'), 'utf8')) as Golden;

const at = (text: string) => {
  const found = instantFromIso(text);
  if (found === null) throw new Error(text);
  return found;
};

describe('partition keys as Airflow makes them', () => {
  it('by every mapper, in every form of date', () => {
    const wrong = golden.mapped.flatMap(([mapper, key, expected]) => {
      const mapped = mapKeys(mapper, key);
      const found = mapped.ok ? mapped.keys[0] : null;
      return found === expected ? [] : [{ mapper, key, expected, found }];
    });
    expect(golden.mapped.length).toBeGreaterThan(250);
    expect(wrong).toEqual([]);
  });

  it('of the runs of a cron schedule, at the partition its offset names', () => {
    for (const { runs, ...fields } of golden.runs) {
      const timetable: TimetableSpec = { type: 'cron_partition', ...fields, key_format: '%Y-%m-%dT%H:%M:%S%z' };
      const from = at('2026-03-27T00:00:00Z');
      const found = [...iterRuns(timetable, { from, to: at(runs.at(-1)?.[0] ?? ''), now: from })].map((run) => [
        instantToIso(run.runAfter),
        instantToIso(run.partitionDate ?? run.runAfter),
        run.partitionKey,
      ]);
      expect(found).toEqual(runs);
    }
  });
});

describe('partitioned schedules', () => {
  const assets = { type: 'asset', name: 'a', uri: 'a' } as const;
  const cron: TimetableSpec = {
    type: 'cron_partition',
    expression: '@daily',
    timezone: 'UTC',
    run_offset: null,
    key_format: '%Y',
  };

  it('are told from others', () => {
    expect(isPartitioned(cron)).toBe(true);
    // Runs by time of a schedule by assets or time have dates, whatever the time is, as on Airflow.
    const either: TimetableSpec = { type: 'asset_or_time', timetable: cron, assets };
    expect(isPartitioned(either)).toBe(false);
    const [from, to] = [at('2026-03-27T00:00:00Z'), at('2026-03-28T00:00:00Z')];
    expect([...iterRuns(either, { from, to, now: to })].map(({ isUndated }) => isUndated)).toEqual([
      undefined,
      undefined,
    ]);
    expect(
      isPartitioned({ type: 'partitioned_asset', assets, mappers: [], default_mapper: { mapper: 'identity' } }),
    ).toBe(true);
    expect(isPartitioned({ type: 'asset', assets })).toBe(false);
    expect(
      nextRun(cron, {
        lastInterval: null,
        earliest: at('2026-01-01T00:00:00Z'),
        latest: null,
        catchup: true,
        now: at('2026-01-01T00:00:00Z'),
      }),
    ).toMatchObject({ isUndated: true, partitionKey: '2026' });
  });

  it('with formats that depend on the machine, or zones that do not exist, are refused', () => {
    const mapper = {
      mapper: 'start_of',
      unit: 'day',
      input_format: '%c',
      output_format: '%Z',
      timezone: 'Mars',
    } as const;
    expect(mapperProblems({ mapper: 'chain', mappers: [mapper] })).toEqual([
      'the format code "%c" is not known to partition mappers',
      'the format code "%Z" is not known to partition mappers',
      'time zone "Mars" is not known',
    ]);
    expect(timetableProblems({ ...cron, key_format: 'x%' })).toMatchObject([{ path: 'key_format' }]);
    const timetable: TimetableSpec = { type: 'partitioned_asset', assets, mappers: [], default_mapper: mapper };
    expect(timetableProblems(timetable)).toHaveLength(3);
  });
});
