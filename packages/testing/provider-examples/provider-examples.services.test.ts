/**
 * The example DAGs that provider packages come with, as they are, against servers on loopback: every task and run ends here as on Airflow
 * 3.2.2 with the same packages and servers (golden/provider-example-states.json). By day a quarter of them runs, at night all do.
 */
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { providersEnvironment } from '../providers/environment.ts';
import { carriedExamples, examplesToRun, whyLeftOut } from './examples.ts';
import { explained, readRecorded, stateDifferences } from './golden.ts';
import { exampleFiles, providerExamples } from './repository.ts';
import { runHere } from './run-here.ts';
import { startExampleServers } from './servers.ts';

const ALL_MUST_END_WITHIN_MS = 3_600_000;

it('every example is run, or it is said why not; and why those that fail on Airflow do', () => {
  const dags = providerExamples();
  const carried = carriedExamples(dags);
  const recorded = readRecorded();
  expect(exampleFiles(dags).filter((file) => !carried.includes(file) && whyLeftOut(file) === undefined)).toEqual([]);
  expect(Object.keys(recorded)).toEqual(carried);
  const failed = Object.values(recorded)
    .flatMap((ends) => Object.entries(ends))
    .filter(([, { state }]) => state === 'failed');
  const empty = Object.entries(recorded).filter(([, ends]) =>
    Object.values(ends).some(({ instances }) => Object.keys(instances).length === 0),
  );
  expect(empty).toEqual([]);
  expect(failed.filter(([, { because = '' }]) => because === '').map(([dag]) => dag)).toEqual([]);
});

it('each provider has an example that is run by day, and so has each difference that is explained', () => {
  const dags = providerExamples();
  const run = examplesToRun(dags);
  const folders = (files: readonly string[]): string[] => [...new Set(files.map((file) => dirname(file)))];
  expect(folders(run)).toEqual(folders(carriedExamples(dags)));
  expect(run.filter(explained)).toEqual(carriedExamples(dags).filter(explained));
});

it(
  'every task and run ends as on Airflow',
  async () => {
    const python = await providersEnvironment();
    const dags = providerExamples();
    const servers = await startExampleServers(python);
    const files = examplesToRun(dags);
    const ends = await runHere({ python, dags, files, servers }).finally(() => servers.stop());
    const recorded = readRecorded();
    const differences = files.flatMap((file) =>
      Object.entries(recorded[file] ?? {}).flatMap(([dag, there]) => {
        const here = ends.find((one) => one.file === file && one.dag === dag);
        return stateDifferences(file, dag, there, here?.end);
      }),
    );
    const differing = new Set(differences.map(({ file }) => file));
    // One that explains nothing any more fails the test, too.
    expect([...differing].filter((file) => explained(file) !== undefined)).toEqual(files.filter(explained));
    const unexplained = differences.filter(({ file }) => explained(file) === undefined);
    const seen = ends.filter(({ file }) => unexplained.some((one) => one.file === file));
    expect({ unexplained, seen }).toEqual({ unexplained: [], seen: [] });
  },
  ALL_MUST_END_WITHIN_MS,
);
