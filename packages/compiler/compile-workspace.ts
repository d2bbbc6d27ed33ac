/** A whole workspace, several files at once, and the one rule that spans them: a DAG id belongs to one place. */
import { compileUnit } from './compile-unit.ts';
import type { CompiledUnit } from './compile-unit.ts';
import type { Compiler } from './compiler.ts';
import { readHere } from './reading/workspace-reader.ts';
import type { WorkspaceReader } from './reading/workspace-reader.ts';

export type WorkspaceProgress = { done: number; total: number; latest: CompiledUnit };

/** `workspace` may also be one project or one DAG file. */
export async function compileWorkspace(input: {
  workspace: string;
  compiler: Compiler;
  reader?: WorkspaceReader;
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
  return refuseDuplicates(compiled);
}

/** Neither of two places that claim an id gets it: whichever came first would be an accident. */
export function refuseDuplicates(compiled: readonly CompiledUnit[]): CompiledUnit[] {
  const places = new Map<string, string[]>();
  for (const result of compiled) {
    for (const dagId of claims(result)) places.set(dagId, [...(places.get(dagId) ?? []), result.unit.name]);
  }
  return compiled.map((result) => {
    const claimed = claims(result).filter((dagId) => (places.get(dagId)?.length ?? 0) > 1);
    if (!result.ok || claimed.length === 0) return result;
    const problems = [...new Set(claimed)].map((dagId) => ({
      file: result.source,
      line: null,
      column: null,
      message: `the DAG id "${dagId}" is claimed by ${places.get(dagId)?.join(' and ')}`,
      instead: 'Give each its own dag_id',
      traceback: '',
    }));
    const { artifacts: _refused, project: _unused, ...base } = result;
    return { ...base, ok: false, problems };
  });
}

/**
 * A project that does not compile holds on to its id: otherwise a second one could take the DAG over just because the
 * first is broken for the moment. Its id is the bundle's name.
 */
const claims = (result: CompiledUnit): string[] => {
  if (result.ok) return result.artifacts.map(({ dagId }) => dagId);
  return result.unit.kind === 'project' ? [result.bundleName] : [];
};
