/** Airflow's own example DAGs, and the standard provider's: every task and run ends here as it ended on Airflow 3.2.2. */
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { describe, expect, it } from 'vitest';
import { CORE_EXAMPLES, STANDARD_EXAMPLES, exampleRepository, pythonForExamples } from './example-corpus.ts';
import { compareExample, readGolden } from './example-states.ts';
import { compileExamples, runExamples } from './run-examples.ts';

const ALL_MUST_END_WITHIN_MS = 600_000;

describe.each([CORE_EXAMPLES, STANDARD_EXAMPLES])('the example DAGs of %s', (name) => {
  it(
    'end as on Airflow, all that need no outside service',
    async () => {
      const python = await pythonForExamples();
      const repository = await exampleRepository({ python, name });
      const { dags, refused } = await compileExamples({ python, repository });
      expect(refused).toEqual([]);
      const database = await createTestDatabase();
      const ends = await runExamples({ databaseUrl: database.url, python, dags }).finally(() => database.drop());
      const golden = readGolden();
      const results = dags.map(({ dagId }) =>
        compareExample({
          package: name,
          dag: dagId,
          golden,
          here: ends.find(({ dag }) => dag.dagId === dagId)?.end,
          now: new Date(),
        }),
      );
      expect(results.filter((one) => one.result === 'differs' && one.why === undefined)).toEqual([]);
      expect(results.filter(({ result }) => result === 'same').length).toBeGreaterThanOrEqual(
        name === CORE_EXAMPLES ? 80 : 15,
      );
    },
    ALL_MUST_END_WITHIN_MS,
  );
});
