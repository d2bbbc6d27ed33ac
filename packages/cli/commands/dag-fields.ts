/** What the commands about DAGs share: the fields of one on the wire, and how they are shown. */

export const DAGS_PATH = '/api/v2/dags';
export const dagPath = (dagId: string): string => `${DAGS_PATH}/${encodeURIComponent(dagId)}`;

export type Dag = {
  dag_id: string;
  dag_display_name: string;
  description: string | null;
  is_paused: boolean;
  is_stale: boolean;
  has_import_errors: boolean;
  owners: string[];
  tags: { name: string }[];
  timetable_summary: string | null;
  timetable_description: string | null;
  next_dagrun_run_after: string | null;
  bundle_name: string | null;
  bundle_version: string | null;
  fileloc: string;
};

export function stateOf(dag: Pick<Dag, 'is_paused' | 'is_stale' | 'has_import_errors'>): string {
  const state = dag.is_stale ? 'stale' : dag.is_paused ? 'paused' : 'active';
  return dag.has_import_errors ? `${state}, import error` : state;
}

export const timeText = (iso: string | null): string => (iso === null ? '-' : iso.slice(0, 19).replace('T', ' '));
