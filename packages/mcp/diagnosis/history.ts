/** Earlier runs and their versions, which show whether the DAG changed right before the failure. It is pure. */
import type { DagDetails, DagRun } from '@svc/client/wire-types.ts';

export type History = {
  /** The newest run before this one. */
  previous_run: { run_id: string; state: string; version_numbers: number[]; run_after: string } | null;
  /** The number of consecutive failed runs right before this one, limited by the number of runs that were read. */
  failed_before: number;
  /** Null if none of the runs that were read succeeded. */
  last_success: { run_id: string; run_after: string } | null;
  version_changed: boolean;
  version_created_at: string | null;
  newest_version: number | null;
};

const versionsOf = (run: DagRun): number[] => run.dag_versions.map((version) => version.version_number);

/** `before` contains earlier runs, newest first. */
export function historyOf(run: DagRun, before: readonly DagRun[], dag: DagDetails | null): History {
  const [previous] = before;
  const mine = versionsOf(run);
  const finished = before.filter(({ state }) => state === 'success' || state === 'failed');
  const good = finished.findIndex(({ state }) => state === 'success');
  const success = finished[good];
  return {
    previous_run: previous
      ? {
          run_id: previous.dag_run_id,
          state: previous.state,
          version_numbers: versionsOf(previous),
          run_after: previous.run_after,
        }
      : null,
    failed_before: good === -1 ? finished.length : good,
    last_success: success ? { run_id: success.dag_run_id, run_after: success.run_after } : null,
    version_changed: previous !== undefined && mine.length > 0 && !versionsOf(previous).includes(mine.at(-1) ?? -1),
    version_created_at: run.dag_versions.at(-1)?.created_at ?? null,
    newest_version: dag?.latest_dag_version?.version_number ?? null,
  };
}
