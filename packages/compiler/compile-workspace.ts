/** A whole workspace, several files at once, and the one rule that spans them: a DAG id belongs to one place. */
import { compileUnit } from './compile-unit.ts';
import type { CompiledUnit } from './compile-unit.ts';
import type { Compiler } from './compiler.ts';
import { NOWHERE } from './reading/unit-problem.ts';
import type { UnitProblem } from './reading/unit-problem.ts';
import { readHere } from './reading/workspace-reader.ts';
import type { WorkspaceReader } from './reading/workspace-reader.ts';

export type WorkspaceProgress = { done: number; total: number; latest: CompiledUnit };

/** `workspace` may also be one project or one DAG file. */
export async function compileWorkspace(input: {
  workspace: string;
  compiler: Compiler;
  reader?: WorkspaceReader;
  /** Refuse a DAG id that two files of a repository claim; otherwise the last file wins, as on Airflow. */
  isStrict?: boolean;
  /** Each unit by itself, before ids are compared. */
  onProgress?: (progress: WorkspaceProgress) => void;
}): Promise<CompiledUnit[]> {
  const { reader = readHere } = input;
  const units = await reader.units(input.workspace);
  let done = 0;
  const compiled = await Promise.all(
    units.map(async (unit) => {
      const latest = await compileUnit(input.compiler, unit, reader);
      done += 1;
      input.onProgress?.({ done, total: units.length, latest });
      return latest;
    }),
  );
  return settleDuplicates(compiled, { isStrict: input.isStrict ?? false });
}

/**
 * Decides about DAG ids that several places claim. Between files of one Airflow repository the last one wins, in the order of
 * their names, and all of them have a warning. In every other case no place gets the id: which one came first would be an accident.
 */
export function settleDuplicates(
  compiled: readonly CompiledUnit[],
  { isStrict }: { isStrict: boolean } = { isStrict: false },
): CompiledUnit[] {
  const places = new Map<string, CompiledUnit[]>();
  for (const result of compiled)
    for (const dagId of new Set(claims(result))) places.set(dagId, [...(places.get(dagId) ?? []), result]);
  const contested = new Map([...places].filter(([, claimants]) => claimants.length > 1));
  const winners = new Map(
    [...contested].flatMap(([dagId, claimants]): [string, CompiledUnit][] => {
      const last = claimants.toSorted((a, b) => (a.unit.name < b.unit.name ? -1 : 1)).at(-1);
      return last && !isStrict && areOfOneRepository(claimants) ? [[dagId, last]] : [];
    }),
  );
  return compiled.map((result) => {
    const claimed = [...new Set(claims(result))].filter((dagId) => contested.has(dagId));
    if (!result.ok || claimed.length === 0) return result;
    const refused = claimed.filter((dagId) => !winners.has(dagId));
    if (refused.length > 0) return refusedFor(refused, result, contested);
    const warnings = claimed.map((dagId) => overruled(dagId, result, contested, winners));
    const artifacts = result.artifacts.filter(({ dagId }) => (winners.get(dagId) ?? result) === result);
    return { ...result, artifacts, warnings: [...result.warnings, ...warnings] };
  });
}

type Claims = ReadonlyMap<string, readonly CompiledUnit[]>;

const areOfOneRepository = (claimants: readonly CompiledUnit[]): boolean =>
  claimants.every(
    ({ unit }) => unit.repository !== undefined && unit.repository.root === claimants[0]?.unit.repository?.root,
  );

function refusedFor(
  dagIds: readonly string[],
  result: Extract<CompiledUnit, { ok: true }>,
  contested: Claims,
): CompiledUnit {
  const problems = dagIds.map((dagId) => ({
    ...NOWHERE,
    file: result.source,
    message: `the DAG id "${dagId}" is claimed by ${namesOf(contested.get(dagId)).join(' and ')}`,
    instead: 'Give each its own dag_id',
  }));
  const { artifacts: _refused, project: _unused, ...base } = result;
  return { ...base, ok: false, problems };
}

function overruled(
  dagId: string,
  result: CompiledUnit,
  contested: Claims,
  winners: ReadonlyMap<string, CompiledUnit>,
): UnitProblem {
  const winner = winners.get(dagId)?.unit.name;
  const places = namesOf(contested.get(dagId)).join(' and ');
  const message = `the DAG id "${dagId}" is claimed by ${places}: ${winner} wins, as the last one does on Airflow`;
  return { ...NOWHERE, file: result.source, message, instead: 'Give each its own dag_id' };
}

const namesOf = (claimants: readonly CompiledUnit[] = []): string[] => claimants.map(({ unit }) => unit.name);

/**
 * A project that does not compile holds on to its id: otherwise a second one could take the DAG over just because the
 * first is broken for the moment. Its id is the bundle's name.
 */
export const claims = (result: CompiledUnit): string[] => {
  if (result.ok) return result.artifacts.map(({ dagId }) => dagId);
  return result.unit.kind === 'project' ? [result.bundleName] : [];
};
