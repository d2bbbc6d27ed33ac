/**
 * Airflow's own example DAGs, and the standard provider's: every task and run ends here as it ended on Airflow. All are
 * compiled. By day a quarter of them runs (`BY_DAY` in example-states.ts), and of 3.3 only what 3.2 does not have.
 */
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { describe, expect, it } from 'vitest';
import {
  CORE_EXAMPLES,
  NEWER_CORE_EXAMPLES,
  STANDARD_EXAMPLES,
  exampleRepository,
  pythonForExamples,
} from './example-corpus.ts';
import { IS_NIGHTLY } from '../nightly.ts';
import { compareExample, readGolden, runsByDay } from './example-states.ts';
import { compileExamples, runExamples } from './run-examples.ts';

const ALL_MUST_END_WITHIN_MS = 1_800_000;
/** Fewer would mean that examples are no longer found, or that names in the list no longer fit. */
const MUST_BE_SAME = IS_NIGHTLY
  ? { [CORE_EXAMPLES]: 80, [STANDARD_EXAMPLES]: 15, [NEWER_CORE_EXAMPLES]: 80 }
  : { [CORE_EXAMPLES]: 27, [STANDARD_EXAMPLES]: 4, [NEWER_CORE_EXAMPLES]: 16 };

/** By day, of the newer Airflow only what the older one does not have. */
const isNew = (dagId: string): boolean => readGolden()[CORE_EXAMPLES]?.[dagId] === undefined;

describe.each([CORE_EXAMPLES, STANDARD_EXAMPLES, NEWER_CORE_EXAMPLES] as const)('the example DAGs of %s', (name) => {
  it(
    'end as on Airflow, all that need no outside service',
    async () => {
      const python = await pythonForExamples();
      const repository = await exampleRepository({ python, name });
      const { dags, refused } = await compileExamples({ python, repository });
      expect(refused).toEqual([]);
      const database = await createTestDatabase();
      const isByDay = name === NEWER_CORE_EXAMPLES ? isNew : runsByDay;
      const chosen = dags.filter(({ dagId }) => IS_NIGHTLY || isByDay(dagId));
      const only = chosen.map(({ dagId }) => dagId);
      const ends = await runExamples({ databaseUrl: database.url, python, dags, only }).finally(() => database.drop());
      const golden = readGolden();
      const results = chosen.map(({ dagId }) =>
        compareExample({
          package: name,
          dag: dagId,
          golden,
          here: ends.find(({ dag }) => dag.dagId === dagId)?.end,
          now: new Date(),
        }),
      );
      expect(results.filter((one) => one.result === 'differs' && one.why === undefined)).toEqual([]);
      expect(results.filter(({ result }) => result === 'same').length).toBeGreaterThanOrEqual(MUST_BE_SAME[name]);
    },
    ALL_MUST_END_WITHIN_MS,
  );
});
