// Measures the cost of keeping the digits of numbers: parseExact compared with JSON.parse, for a request and for a
// large compiled spec. The inputs have numbers that need it, no such numbers, and texts that only look like them.

import { parseExact } from '@svc/spec/exact-json.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const REQUEST = JSON.stringify({
  logical_date: '2026-01-01T00:00:00.000000Z',
  conf: { day: '2026-01-01', limit: 10, ratio: 0.25, regions: ['eu', 'us'] },
  note: 'nightly',
});

const task = (index: number, sql: string) => ({
  task_id: `load_${index}`,
  arguments: { sql, count: 3, share: 0.5 },
  upstream_task_ids: ['a', 'b', 'c'],
  policy: { retries: 3, retry_delay: 300, pool: 'default_pool', queue: null },
});
const spec = (sql: string): string =>
  JSON.stringify({ tasks: Array.from({ length: 50_000 }, (_, index) => task(index, sql)) });

const TEXTS: Record<string, () => { text: string; times: number }> = {
  request: () => ({ text: REQUEST, times: 20_000 }),
  'request with 1.0': () => ({ text: REQUEST.replace('0.25', '1.0'), times: 20_000 }),
  spec: () => ({ text: spec('select 1'), times: 1 }),
  'spec with 1.0 in texts': () => ({ text: spec('select 1 where x in (2, 1.0, 3)'), times: 1 }),
  'spec with one 1.0': () => ({ text: spec('select 1').replace('"share":0.5', '"share":1.0'), times: 1 }),
};

function microseconds(read: (text: string) => unknown, { text, times }: { text: string; times: number }): number {
  const begin = process.hrtime.bigint();
  for (let time = 0; time < times; time += 1) read(text);
  return Number(process.hrtime.bigint() - begin) / 1_000 / times;
}

export async function run({ number, print }: BenchOptions): Promise<void> {
  const runs = number('runs', 5);
  for (const [name, make] of Object.entries(TEXTS)) {
    const input = make();
    for (const [figure, read] of [
      ['JSON.parse', JSON.parse],
      ['parseExact', parseExact],
    ] as const) {
      microseconds(read, input); // warm-up
      const value = rounded(median(Array.from({ length: runs }, () => microseconds(read, input))));
      print({ bench: 'exact-json', figure, value, unit: 'µs', text: name, bytes: input.text.length, runs });
    }
  }
}
