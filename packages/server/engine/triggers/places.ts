/** Where triggers can run together. Pure. */
import { createHash } from 'node:crypto';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { UnheldTrigger } from '../sql/triggers.ts';

/**
 * `environment`: in one process with all triggers that have the same packages and code. `version`: with those of their
 * DAG version.
 */
export type TriggererPer = 'environment' | 'version';

type Version = {
  dagId: string;
  versionNumber: number;
  fileloc: string;
  classPath: string;
  kind: UnheldTrigger['kind'];
};

/** Equal texts mean one triggerer. Tenants share no triggerers. */
export function placeOf(per: TriggererPer, version: Version, spec: Pick<CompiledSpec, 'project' | 'source'>): string {
  // Code that is written in the DAG file exists only where that version is loaded.
  const isInFile = version.kind === 'callback' || version.classPath.startsWith(`${spec.source.module}.`);
  if (per === 'version' || isInFile) return `version ${version.versionNumber} of ${version.dagId}`;
  const { dependencies = [] } = (spec.project as { dependencies?: readonly string[] } | null) ?? {};
  const { path, modules } = spec.source;
  const folder = version.fileloc.endsWith(`/${path}`) ? version.fileloc.slice(0, -path.length) : version.fileloc;
  // A trigger may be written in a module of the project. A change of that module makes another place.
  const code = modules.map(({ module, sha256 }) => [module, sha256]).sort();
  const facts = JSON.stringify([dependencies.toSorted(), folder, code]);
  return `environment ${createHash('sha256').update(facts).digest('hex').slice(0, 32)}`;
}
