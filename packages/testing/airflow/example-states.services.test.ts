/**
 * Airflow's own example DAGs, and the standard provider's: every task and run ends here as it ended on Airflow 3.2.2. All are
 * compiled; by day a quarter of them runs (`BY_DAY` in example-states.ts), at night all do.
 */
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { describe, expect, it } from 'vitest';
import { CORE_EXAMPLES, STANDARD_EXAMPLES, exampleRepository, pythonForExamples } from './example-corpus.ts';
import { IS_NIGHTLY } from '../nightly.ts';
import { compareExample, readGolden, runsByDay } from './example-states.ts';
import { compileExamples, runExamples } from './run-examples.ts';

const ALL_MUST_END_WITHIN_MS = 1_800_000;
/** Fewer would mean that examples are no longer found, or that names in the list no longer fit. */
const MUST_BE_SAME = IS_NIGHTLY
  ? { [CORE_EXAMPLES]: 80, [STANDARD_EXAMPLES]: 15 }
  : { [CORE_EXAMPLES]: 27, [STANDARD_EXAMPLES]: 4 };

describe.each([CORE_EXAMPLES, STANDARD_EXAMPLES] as const)('the example DAGs of %s', (name) => {
  it(
    'end as on Airflow, all that need no outside service',
    async () => {
      const python = await pythonForExamples();
      const repository = await exampleRepository({ python, name });
      const { dags, refused } = await compileExamples({ python, repository });
      expect(refused).toEqual([]);
      const database = await createTestDatabase();
      const chosen = dags.filter(({ dagId }) => IS_NIGHTLY || runsByDay(dagId));
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
