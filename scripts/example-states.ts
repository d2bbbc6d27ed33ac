// Runs Airflow's example DAGs here, each once, and compares how every task and run ended with how it ended on Airflow.
// Prints one JSON line for each DAG: same, differs (with the tasks), needs an outside service (which), not recorded (why); and
// one with the counts.
//
//   node scripts/example-states.ts [DAG id …]
//   node scripts/example-states.ts --record [DAG id …]      # runs them on Airflow first and keeps how they ended
//
// Needs a reachable package index: for the examples themselves, and for those that make a virtual environment.

import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { EXAMPLE_PACKAGES, exampleRepository, pythonForExamples } from '@svc/testing/airflow/example-corpus.ts';
import { compareExample, readGolden, writeGolden } from '@svc/testing/airflow/example-states.ts';
import type { Comparison } from '@svc/testing/airflow/example-states.ts';
import { recordExamples } from '@svc/testing/airflow/record-examples.ts';
import { compileExamples, runExamples } from '@svc/testing/airflow/run-examples.ts';

const print = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const [first, ...rest] = process.argv.slice(2);
const record = first === '--record';
const only = record || first === undefined ? rest : [first, ...rest];
const python = await pythonForExamples();
const results: Comparison[] = [];
const cluster = await startScratchCluster();
try {
  for (const [name, version] of Object.entries(EXAMPLE_PACKAGES)) {
    const repository = await exampleRepository({ python, name });
    if (record) {
      await recordExamples({
        version,
        repository,
        only,
        onEnd: (key, end) => {
          const golden = readGolden();
          golden[name] = { ...golden[name], [key]: end };
          writeGolden(golden);
        },
      });
    }
    const { dags, refused } = await compileExamples({ python, repository });
    for (const { file, message } of refused) print({ package: name, file, refused: message });
    const chosen = dags.filter(({ dagId }) => only.length === 0 || only.includes(dagId));
    const golden = readGolden();
    const compare = (dag: string, here?: Parameters<typeof compareExample>[0]['here']): void => {
      const result = compareExample({ package: name, dag, golden, here, now: new Date() });
      results.push(result);
      print(result);
    };
    const ended = new Set<string>();
    await runExamples({
      databaseUrl: await cluster.createDatabase(),
      python,
      dags,
      only,
      onEnd: ({ dag, end }) => {
        ended.add(dag.dagId);
        compare(dag.dagId, end);
      },
    });
    for (const { dagId } of chosen) if (!ended.has(dagId)) compare(dagId);
  }
} finally {
  await cluster.remove();
}
const count = (result: Comparison['result']): number => results.filter((one) => one.result === result).length;
print({
  dags: results.length,
  same: count('same'),
  differs: count('differs'),
  needs_an_outside_service: count('needs an outside service'),
  not_recorded: count('not recorded'),
});
