// Generates DAG files from seeds, runs each on Airflow 3.2.2 and here, and compares what happened. Prints a line for each
// DAG that differs without an explanation, with its smallest file, and the coverage of features and of their pairs. Ends
// with 1 when there is such a DAG.

import { coverageOf } from '@svc/testing/differential/coverage.ts';
import { generateDag } from '@svc/testing/differential/generate.ts';
import { search } from '@svc/testing/differential/search.ts';
import type { BenchOptions } from './figure.ts';

export async function run(options: BenchOptions): Promise<void> {
  const [first, times] = [options.number('seed', 1), options.number('times', 200)];
  const figure = { bench: 'differential', seed: first, dags: times };
  const { missing, ...coverage } = coverageOf(
    Array.from({ length: times }, (_, index) => generateDag(first + index).features),
  );
  options.say(`pairs of features that do not occur: ${missing.length}`);
  options.print({ ...figure, figure: 'features', value: coverage.features, unit: 'features', of: coverage.ofFeatures });
  options.print({ ...figure, figure: 'pairs of features', value: coverage.pairs, unit: 'pairs', of: coverage.ofPairs });
  const started = performance.now();
  const { findings, byOrder } = await search({
    first,
    times,
    shrinks: options.text('only') !== 'find',
    say: (message) => options.say(message),
    onFinding: ({ dag, differences, file }) =>
      options.print({
        bench: 'differential',
        figure: 'difference',
        value: differences.length,
        unit: 'facts',
        dag,
        differences: JSON.stringify(differences),
        file,
      }),
  });
  const seconds = (performance.now() - started) / 1_000;
  options.print({ ...figure, figure: 'unexplained', value: findings.length, unit: 'dags' });
  options.print({ ...figure, figure: 'decided by the order of ends', value: byOrder, unit: 'dags' });
  options.print({ ...figure, figure: 'time for each', value: Math.round((seconds / times) * 1_000), unit: 'ms' });
  if (findings.length > 0) throw new Error(`${findings.length} DAGs differ from Airflow without an explanation`);
}
