/**
 * Airflow's own example DAGs end by `dag.test()` as they ended on Airflow 3.2.2: by day one or two for each construct
 * (`BY_DAY` in example-states.ts), at night all that need no other run.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { IS_NIGHTLY } from '../nightly.ts';
import { ROOT } from '../paths.ts';
import { CORE_EXAMPLES, exampleRepository, pythonForExamples } from './example-corpus.ts';
import {
  BEFORE,
  BESIDE,
  CONF,
  LOGICAL_DATE,
  OUTSIDE,
  compareExample,
  readGolden,
  runsByDay,
} from './example-states.ts';
import type { RunEnd } from './example-states.ts';

const ALL_MUST_END_WITHIN_MS = 1_800_000;
/** `dag.test()` knows one run, and waits as long as a sensor does. */
const LEFT_OUT = new Set([
  ...Object.keys(OUTSIDE),
  ...Object.keys(BESIDE),
  ...Object.keys(BEFORE),
  'example_sensors', // waits for an hour
  'example_trigger_controller_dag',
  'read_asset_event', // reads what another run wrote
  'read_asset_event_from_classic',
]);
/** Fewer would mean that examples are no longer found. */
const MUST_BE_SAME = IS_NIGHTLY ? 80 : 24;

type Answer = { errors: Record<string, string>; ends: Record<string, RunEnd> };

describe(`the example DAGs of ${CORE_EXAMPLES}`, () => {
  it(
    'end by dag.test() as on Airflow',
    async () => {
      const python = await pythonForExamples();
      const repository = await exampleRepository({ python, name: CORE_EXAMPLES });
      const golden = readGolden();
      const known = Object.keys(golden[CORE_EXAMPLES] ?? {}).map((key) => key.replace(/@.*$/, ''));
      const chosen = [...new Set(known)].filter((dag) => !LEFT_OUT.has(dag) && (IS_NIGHTLY || runsByDay(dag)));
      const script = join(import.meta.dirname, 'dag_test_examples.py');
      const args = [script, join(repository, 'dags'), JSON.stringify(CONF), LOGICAL_DATE, ...chosen];
      const env = { ...process.env, PYTHONPATH: join(ROOT, 'python') };
      const { stdout } = await promisify(execFile)(python, args, { env, maxBuffer: 64 << 20 });
      const { errors, ends } = JSON.parse(stdout) as Answer;
      expect(errors).toEqual({});
      const now = new Date();
      const results = chosen.map((dag) =>
        compareExample({ package: CORE_EXAMPLES, dag, golden, here: ends[dag], now }),
      );
      expect(results.filter((one) => one.result === 'differs' && one.why === undefined)).toEqual([]);
      expect(results.filter(({ result }) => result === 'same').length).toBeGreaterThanOrEqual(MUST_BE_SAME);
    },
    ALL_MUST_END_WITHIN_MS,
  );
});
