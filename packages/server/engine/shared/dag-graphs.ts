/**
 * Caches specs and their blueprints by version. A version never changes, so a cached entry stays true. The cache is
 * bounded, because a control plane may know thousands of versions and work on few.
 */
import { parseExact } from '@svc/spec/exact-json.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import { createLoadCache } from './load-cache.ts';
import { buildBlueprint } from '../plan/blueprint.ts';
import type { Blueprint } from '../plan/blueprint.ts';
import { readSpec } from '../sql/dag-rows.ts';
import type { VersionRef } from '../sql/dag-rows.ts';

export type { VersionRef } from '../sql/dag-rows.ts';

export type DagGraph = {
  readonly spec: CompiledSpec;
  readonly blueprint: Blueprint;
  readonly pools: readonly string[];
  /** True when some task depends on the previous run (depends_on_past, wait_for_downstream). */
  readonly pastMatters: boolean;
  /**
   * True when a run could reach max_active_tasks, or a task its max_active_tis_per_dagrun. Its slots must then be
   * counted.
   */
  readonly isBound: boolean;
  /** True when some task starts from its trigger. */
  readonly hasStartTriggers: boolean;
};
export type DagGraphs = {
  get(db: SharedDb, ref: VersionRef): Promise<DagGraph>;
  /** Returns the graph only if it is cached. */
  peek(ref: VersionRef): DagGraph | undefined;
};

/** A graph of a few dozen tasks takes about 100 kB. */
const KEPT = 500;

/** A version never changes and its number is never used again, so an entry under this key stays true. */
export const versionKey = (ref: VersionRef): string => `${ref.tenantId}/${ref.versionNumber}/${ref.dagId}`;

/**
 * `isApiOnly`: for a process that may not write triggers. Tasks that start from a trigger become scheduled there, and a
 * scheduler defers them.
 */
export function createDagGraphs({ isApiOnly = false } = {}): DagGraphs {
  const kept = createLoadCache<DagGraph>({ max: KEPT });
  return {
    get: (db, ref) => kept.get(versionKey(ref), () => load(db, ref, isApiOnly)),
    peek: (ref) => kept.peek(versionKey(ref)),
  };
}

async function load(db: SharedDb, ref: VersionRef, isApiOnly: boolean): Promise<DagGraph> {
  const text = await readSpec(db, ref);
  if (text === undefined) throw new Error(`version ${ref.versionNumber} of DAG ${ref.dagId} is not registered`);
  const spec = (await parseJsonInTurns(text, { parse: parseExact })) as CompiledSpec;
  const blueprint = buildBlueprint(spec);
  return {
    spec,
    blueprint,
    pools: [...new Set(spec.tasks.map((task) => task.policy.pool))],
    pastMatters: spec.tasks.some(({ policy }) => policy.depends_on_past || policy.wait_for_downstream),
    isBound: isBound(spec, blueprint),
    hasStartTriggers: !isApiOnly && spec.tasks.some((task) => task.start_trigger !== undefined),
  };
}

const isBound = ({ dag }: CompiledSpec, { tasks }: Blueprint): boolean =>
  tasks.size > dag.max_active_tasks ||
  [...tasks.values()].some(({ isMapped, spec }) => isMapped || spec.policy.max_active_tis_per_dagrun !== null);
