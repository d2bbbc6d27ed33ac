/** Explains why a run has not started. Its tasks cannot explain it, because a queued run has none yet. */
import type { DagRun } from '@svc/client/wire-types.ts';
import type { Client } from '../client/client.ts';
import { timeText } from '../output/wording.ts';

/** Returns null for a run that has started. */
export async function whyQueued(client: Client, run: DagRun): Promise<string | null> {
  if (run.state !== 'queued') return null;
  const path = { dag_id: run.dag_id, dag_run_id: run.dag_run_id };
  const { run_wait: wait } = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/diagnosis', {
    path,
    query: { log_tail_lines: 1 },
  });
  if (wait === null) return null;
  if (wait.until !== null) return `not before ${timeText(wait.until)}`;
  return wait.detail === null ? wait.meaning : `${wait.meaning} (${wait.detail})`;
}
