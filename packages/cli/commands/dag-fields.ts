import type { Dag } from '@svc/client/wire-types.ts';

/** Returns the state of a DAG as commands show it. */
export function stateOf(dag: Pick<Dag, 'is_paused' | 'is_stale' | 'has_import_errors'>): string {
  const state = dag.is_stale ? 'stale' : dag.is_paused ? 'paused' : 'active';
  return dag.has_import_errors ? `${state}, import error` : state;
}
