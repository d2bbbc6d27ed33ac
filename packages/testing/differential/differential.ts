/** Generates DAG files, runs them on Airflow and here, and says where they differ. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonEnvironment } from '../python-environment.ts';
import { compareOutcomes } from './compare.ts';
import type { Difference } from './outcome.ts';
import type { FuzzDag } from './model.ts';
import { factsOf } from './outcome.ts';
import type { Facts, Outcome } from './outcome.ts';
import { renderDag } from './render.ts';
import { startHere } from './run-here.ts';
import { runOnAirflow } from './run-on-airflow.ts';
import { shrunkDags } from './shrink.ts';

export type Judge = { close(): Promise<void>; folder: string } & {
  onAirflow(dags: readonly FuzzDag[]): Promise<Map<string, Facts>>;
  here(dags: readonly FuzzDag[]): Promise<Map<string, Outcome>>;
};

export async function startJudge({ databaseUrl }: { databaseUrl: string }): Promise<Judge> {
  const folder = folderOfDags();
  const runner = await startHere({ databaseUrl, python: await pythonEnvironment(), folder });
  return {
    folder,
    onAirflow: async (dags) => byDag(await runOnAirflow({ folder, files: write(folder, dags) }), factsOf),
    here: async (dags) => byDag(await runner.run(write(folder, dags)), (one) => one),
    async close() {
      await runner.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What Airflow alone says. */
export async function factsOnAirflow(dags: readonly FuzzDag[]): Promise<Map<string, Facts>> {
  const folder = folderOfDags();
  try {
    return byDag(await runOnAirflow({ folder, files: write(folder, dags) }), factsOf);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function folderOfDags(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-differential-dags-'));
  copyFileSync(join(import.meta.dirname, 'fuzz_probe.py'), join(folder, 'fuzz_probe.py'));
  return folder;
}

function write(folder: string, dags: readonly FuzzDag[]): string[] {
  return dags.map((dag) => {
    writeFileSync(join(folder, `${dag.id}.py`), renderDag(dag));
    return `${dag.id}.py`;
  });
}

const byDag = <T, U>(found: ReadonlyMap<string, T>, to: (one: T) => U): Map<string, U> =>
  new Map([...found].map(([file, one]) => [file.replace(/\.py$/, ''), to(one)]));

type Judged = { dag: FuzzDag; differences: Difference[] };

/** Each DAG with its differences, if any, also those that are explained. */
export async function judge(judges: Judge, dags: readonly FuzzDag[]): Promise<Judged[]> {
  const [airflow, here] = await Promise.all([judges.onAirflow(dags), judges.here(dags)]);
  return dags.map((dag) => ({
    dag,
    differences: compareOutcomes(airflow.get(dag.id) ?? {}, here.get(dag.id) ?? { broken: 'there is no outcome' }),
  }));
}

export const unexplained = ({ differences }: Judged): Difference[] =>
  differences.filter(({ why }) => why === undefined);

/** So that a smaller DAG is only taken when it differs in the same way. Names of tasks do not matter. */
const kindOf = ({ where, airflow, here }: Difference): string => {
  const what = where.replace(/^\S+ /, '');
  return /^(?:state|tries)$/.test(what) ? `${what} ${airflow} ${here}` : what;
};

const ROUNDS = 40;

/** The smallest DAG that still has a difference of the same kind. */
export async function shrink(judges: Judge, found: Judged): Promise<Judged> {
  const kinds = new Set(unexplained(found).map(kindOf));
  let smallest = found;
  for (let round = 0; round < ROUNDS; round += 1) {
    const smaller = shrunkDags(smallest.dag).map((dag, index) => ({ ...dag, id: `${found.dag.id}_${round}_${index}` }));
    const judged = await judge(judges, smaller);
    const next = judged.find((one) => unexplained(one).some((difference) => kinds.has(kindOf(difference))));
    if (!next) return smallest;
    smallest = next;
  }
  return smallest;
}
