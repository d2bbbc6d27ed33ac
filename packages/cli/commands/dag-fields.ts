import type { Dag } from '@svc/client/wire-types.ts';

/** How the commands about DAGs say what state one is in. */
export function stateOf(dag: Pick<Dag, 'is_paused' | 'is_stale' | 'has_import_errors'>): string {
  const state = dag.is_stale ? 'stale' : dag.is_paused ? 'paused' : 'active';
  return dag.has_import_errors ? `${state}, import error` : state;
}
