/** What svc makes of the repositories of layouts.ts, next to what Airflow 3.2.2 made of them (record-layouts.ts). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';

type Task = { upstream: readonly string[]; rule: string; retries: number };
type Schedule = { type: string; expression?: unknown; expressions?: unknown; timezone?: unknown };
type Dag = { file: string; schedule: Schedule; tasks: Record<string, Task> };
/** `errors`: messages by file. Files are relative to the repository. */
export type Result = { dags: Record<string, Dag>; errors: Record<string, string> };

/** DAGs that every layout has are stored once. Their files are relative to the DAGs folder. */
type Golden = { everywhere: Record<string, Dag>; layouts: Record<string, Result> };

const FILE = join(import.meta.dirname, 'airflow-3.2.2.json');

/** `dags`: DAGs folders by the name of the layout. */
type Folders = ReadonlyMap<string, string>;

export function writeResults(results: ReadonlyMap<string, Result>, folders: Folders): void {
  const below = (dag: Dag | undefined, name: string): Dag | undefined =>
    dag && { ...dag, file: relative(folders.get(name) ?? '.', dag.file) };
  const [[firstName, first] = ['', undefined]] = results;
  const everywhere = Object.fromEntries(
    Object.entries(first?.dags ?? {})
      .map(([id, dag]) => [id, below(dag, firstName)] as const)
      .filter(([id, dag]) => [...results].every(([name, { dags }]) => isDeepStrictEqual(below(dags[id], name), dag))),
  ) as Record<string, Dag>;
  const layouts = Object.fromEntries(
    [...results].map(([name, { dags, errors }]) => {
      const own = Object.entries(dags).filter(([id]) => everywhere[id] === undefined);
      return [name, { dags: Object.fromEntries(own), errors }];
    }),
  );
  writeFileSync(FILE, `${JSON.stringify({ everywhere, layouts })}\n`);
}

export function readResults(folders: Folders): ReadonlyMap<string, Result> {
  const { everywhere, layouts } = JSON.parse(readFileSync(FILE, 'utf8')) as Golden;
  return new Map(
    Object.entries(layouts).map(([name, { dags, errors }]) => {
      const folder = folders.get(name) ?? '.';
      const shared = Object.entries(everywhere).map(([id, dag]) => [id, { ...dag, file: join(folder, dag.file) }]);
      return [name, { dags: { ...(Object.fromEntries(shared) as Record<string, Dag>), ...dags }, errors }];
    }),
  );
}

export function resultOf(units: readonly CompiledUnit[], root: string): Result {
  const fileOf = ({ unit, source }: CompiledUnit): string => relative(root, join(unit.root, source));
  const dags = units.flatMap((unit) =>
    (unit.ok ? unit.artifacts : []).map(({ dagId, spec }): [string, Dag] => {
      const tasks = spec.tasks.map((task): [string, Task] => [
        task.task_id,
        {
          upstream: [...task.upstream_task_ids].toSorted(),
          rule: task.policy.trigger_rule,
          retries: task.policy.retries,
        },
      ]);
      const schedule = scheduleOf(spec.schedule);
      return [dagId, { file: fileOf(unit), schedule, tasks: Object.fromEntries(tasks) }];
    }),
  );
  const failed = units.flatMap((unit): [string, string][] =>
    unit.ok ? [] : unit.problems.map(({ message }) => [fileOf(unit), message]),
  );
  return { dags: Object.fromEntries(dags), errors: Object.fromEntries(failed) };
}

const scheduleOf = ({ type, expression, expressions, timezone }: Schedule): Schedule => ({
  type,
  ...(expression !== undefined && { expression }),
  ...(expressions !== undefined && { expressions }),
  ...(timezone !== undefined && { timezone }),
});

/** Of the files that were compiled here. `missing`: files that load on Airflow and not here. */
type Compared = { missing: string[]; differences: string[] };

export function compareResults(input: { airflow: Result; here: Result; files: ReadonlySet<string> }): Compared {
  const { airflow, here, files } = input;
  const theirs = Object.entries(airflow.dags).filter(([, { file }]) => files.has(file));
  const lost = theirs.filter(([id]) => here.dags[id] === undefined).map(([, { file }]) => file);
  return {
    missing: [...new Set(lost)].map((file) => `${file}: ${here.errors[file] ?? 'a DAG is not found'}`),
    differences: theirs.flatMap(([id, dag]) => {
      const ours = here.dags[id];
      return ours === undefined ? [] : differencesOf(id, { theirs: dag, ours });
    }),
  };
}

function differencesOf(dagId: string, { theirs, ours }: { theirs: Dag; ours: Dag }): string[] {
  const told = (where: string, airflow: unknown, here: unknown): string[] =>
    isDeepStrictEqual(airflow, here)
      ? []
      : [`${dagId} ${where}: ${JSON.stringify(airflow)} on Airflow, ${JSON.stringify(here)} here`];
  const ids = new Set([...Object.keys(theirs.tasks), ...Object.keys(ours.tasks)]);
  return [
    ...told('schedule', theirs.schedule, ours.schedule),
    ...[...ids].toSorted().flatMap((id) => told(id, theirs.tasks[id], ours.tasks[id])),
  ];
}
