/** Where triggers can run together. Pure. */
import { createHash } from 'node:crypto';
import type { CompiledSpec } from '@svc/spec/schema.ts';

/** `environment`: in one process with all that have the same packages and the same code; `version`: with those of their DAG version. */
export type TriggererPer = 'environment' | 'version';

type Version = {
  dagId: string;
  versionNumber: number;
  fileloc: string;
  classPath: string;
  kind: 'task' | 'asset' | 'callback';
};

/** Equal texts: one triggerer. Never asked across tenants, which share none. */
export function placeOf(per: TriggererPer, version: Version, spec: Pick<CompiledSpec, 'project' | 'source'>): string {
  // What is written in the DAG file itself is there only where that version is loaded.
  const isInFile = version.kind === 'callback' || version.classPath.startsWith(`${spec.source.module}.`);
  if (per === 'version' || isInFile) return `version ${version.versionNumber} of ${version.dagId}`;
  const { dependencies = [] } = (spec.project as { dependencies?: readonly string[] } | null) ?? {};
  const { path, modules } = spec.source;
  const folder = version.fileloc.endsWith(`/${path}`) ? version.fileloc.slice(0, -path.length) : version.fileloc;
  // A trigger may be written in a module of the project: when that has changed, it is another place.
  const code = modules.map(({ module, sha256 }) => [module, sha256]).sort();
  const facts = JSON.stringify([dependencies.toSorted(), folder, code]);
  return `environment ${createHash('sha256').update(facts).digest('hex').slice(0, 32)}`;
}
