/**
 * 10,000 generated DAGs on Airflow 3.2.2 and here. `differential.test.ts` covers the same hazard in `npm test`. A night that
 * was interrupted continues with the DAGs that are left: test-output/differential has those that were judged.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../paths.ts';
import { coverageOf } from './coverage.ts';
import { generateDag } from './generate.ts';
import { search } from './search.ts';

const FIRST_SEED = Number(process.env['SVC_TEST_SEED'] ?? 1);
const ENOUGH = 10_000;
const DAGS = Number(process.env['SVC_TEST_DIFFERENTIAL_DAGS'] ?? ENOUGH);
const LEAST_OF_PAIRS = 0.95;
const ALL_MUST_END_WITHIN_MS = 8 * 3_600_000;

it(
  'features of 10,000 DAG files that are combined at random end, return, render and call back as on Airflow',
  async () => {
    const seeds = Array.from({ length: DAGS }, (_, index) => FIRST_SEED + index);
    const { pairs, ofPairs } = coverageOf(seeds.map((seed) => generateDag(seed).features));
    expect(pairs / ofPairs).toBeGreaterThanOrEqual(DAGS < ENOUGH ? 0 : LEAST_OF_PAIRS);
    process.stdout.write(`${DAGS} DAGs with ${pairs} of ${ofPairs} pairs of features\n`);
    const { findings } = await search({
      first: FIRST_SEED,
      times: DAGS,
      shrinks: true,
      progressFile: join(ROOT, 'test-output', 'differential', `${FIRST_SEED}.jsonl`),
      say: (message) => process.stdout.write(`${message}\n`),
    });
    expect(findings).toEqual([]);
  },
  ALL_MUST_END_WITHIN_MS,
);
