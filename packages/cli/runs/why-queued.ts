/** Explains why a run has not started. Its tasks cannot explain it, because a queued run has none yet. */
import type { DagRun } from '@svc/client/wire-types.ts';
import { RUN_TYPES } from '@svc/spec/states.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { Client } from '../client/client.ts';
import { timeText } from '../output/wording.ts';

/** Returns null for a run that has started. */
export async function whyQueued(client: Client, run: DagRun): Promise<string | null> {
  if (run.state !== 'queued') return null;
  if (Date.parse(run.run_after) > Date.now()) return `not before ${timeText(run.run_after)}`;
  const path = { dag_id: run.dag_id };
  const dag = await client.get('/api/v2/dags/{dag_id}/details', { path });
  if (dag.is_paused) return WAIT_REASONS.paused;
  // A backfill has its own limit in addition to that of the DAG.
  if (run.run_type === 'backfill') return 'waits for its turn in its backfill, which may be paused';
  const { total_entries: total } = await client.get('/api/v2/dags/{dag_id}/dagRuns', {
    path,
    query: { run_type: RUN_TYPES.filter((type) => type !== 'backfill'), state: ['running'], limit: 1 },
  });
  const running = total ?? 0; // null only when paging by cursor
  return running >= dag.max_active_runs
    ? `${WAIT_REASONS.max_active_runs} (${running} of ${dag.max_active_runs})`
    : 'about to start';
}
