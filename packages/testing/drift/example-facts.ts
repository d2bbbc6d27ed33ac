/** How the example DAGs of a version load here, and how they end on Airflow and here, as facts. */
import { CORE_PACKAGE, exampleRepository, pythonForExamples } from '../airflow/example-corpus.ts';
import { compareExample, endText, readGolden, writeGolden } from '../airflow/example-states.ts';
import type { Comparison, RunEnd } from '../airflow/example-states.ts';
import { recordTested } from '../airflow/record-examples.ts';
import { compileExamples, runExamples } from '../airflow/run-examples.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { Facts } from './compare-facts.ts';
import type { NewestAirflow } from './newest-airflow.ts';

export type ExampleFacts = {
  facts: Pick<Facts, 'loads here' | 'ends on Airflow' | 'ends here'>;
  /** Makes the ends on this Airflow the ones that others compare with. */
  store(): void;
};

/** DAGs that need a scheduler are not run on Airflow: their stored ends remain, where this version has some. */
export async function exampleFacts({ python: airflow, versions }: NewestAirflow): Promise<ExampleFacts> {
  const name = `${CORE_PACKAGE}==${versions['apache-airflow-core']}`;
  const python = await pythonForExamples();
  const repository = await exampleRepository({ python, name });
  const ends: Record<string, RunEnd> = {};
  await recordTested({ python: airflow, repository, only: [], onEnd: (key, end) => void (ends[key] = end) });
  const golden = readGolden();
  const known = { ...golden, [name]: { ...golden[name], ...ends } };
  const { dags, refused } = await compileExamples({ python, repository });
  const cluster = await startScratchCluster();
  try {
    const databaseUrl = await cluster.createDatabase();
    const here = await runExamples({ databaseUrl, python, dags });
    const compared = dags.map(({ dagId }) => {
      const end = here.find(({ dag }) => dag.dagId === dagId)?.end;
      return compareExample({ package: name, dag: dagId, golden: known, here: end, now: new Date() });
    });
    return {
      facts: {
        'loads here': Object.fromEntries([
          ...dags.map(({ dagId }) => [dagId, 'loads']),
          // The path of a file of this machine says nothing about Airflow.
          ...refused.map(({ file, message }) => [file, message.replace(/ \(\/.*\)/, '')]),
        ]),
        'ends on Airflow': Object.fromEntries(
          Object.entries(ends).map(([key, end]) => [key, endText(key.replace(/@.*$/, ''), end)]),
        ),
        'ends here': Object.fromEntries(compared.map((one) => [one.dag, resultText(one)])),
      },
      store: () => writeGolden(known),
    };
  } finally {
    await cluster.remove();
  }
}

function resultText(one: Comparison): string {
  if (one.result === 'same') return 'as on Airflow';
  if (one.result === 'needs an outside service') return `needs ${one.service}`;
  if (one.result === 'not recorded') return one.why;
  const tasks = one.differences.map(
    ({ task, airflow, here }) => `${task || 'the run'}: ${airflow} there, ${here} here`,
  );
  return tasks.join(', ');
}
