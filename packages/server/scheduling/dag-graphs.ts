/**
 * Specs and their blueprints, by version. A version never changes, so what was read once stays true; the cache is bounded
 * because a control plane may know thousands of versions and work on few.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { SharedDb } from '../db/database.ts';
import { buildBlueprint } from './plan/blueprint.ts';
import type { Blueprint } from './plan/blueprint.ts';

export type DagGraph = {
  readonly spec: CompiledSpec;
  readonly blueprint: Blueprint;
  readonly pools: readonly string[];
  /** Some task looks at the previous run (depends_on_past, wait_for_downstream). */
  readonly pastMatters: boolean;
};
export type VersionRef = { tenantId: string; dagId: string; versionNumber: number };
export type DagGraphs = { get(db: SharedDb, ref: VersionRef): Promise<DagGraph> };

/** A graph of a few dozen tasks takes some 100 kB. */
const KEPT = 500;

export function createDagGraphs(): DagGraphs {
  const kept = new Map<string, Promise<DagGraph>>();
  return {
    async get(db, ref) {
      const key = `${ref.tenantId}/${ref.versionNumber}/${ref.dagId}`;
      const known = kept.get(key);
      if (known) {
        kept.delete(key); // to the end: the first of the map is the one longest unused
        kept.set(key, known);
        return known;
      }
      const loading = load(db, ref);
      kept.set(key, loading);
      loading.catch(() => kept.delete(key));
      if (kept.size > KEPT) kept.delete(kept.keys().next().value ?? '');
      return loading;
    },
  };
}

async function load(db: SharedDb, ref: VersionRef): Promise<DagGraph> {
  const row = await db
    .selectFrom('dag_versions')
    .select('spec')
    .where('tenant_id', '=', ref.tenantId)
    .where('dag_id', '=', ref.dagId)
    .where('version_number', '=', ref.versionNumber)
    .executeTakeFirst();
  if (!row) throw new Error(`version ${ref.versionNumber} of DAG ${ref.dagId} is not registered`);
  const spec = JSON.parse(row.spec) as CompiledSpec;
  return {
    spec,
    blueprint: buildBlueprint(spec),
    pools: [...new Set(spec.tasks.map((task) => task.policy.pool))],
    pastMatters: spec.tasks.some(({ policy }) => policy.depends_on_past || policy.wait_for_downstream),
  };
}
