/** Why a run has not started. Its tasks cannot say so: a queued run has none yet. */
import { RUN_TYPES } from '@svc/spec/states.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { Client } from '../client/client.ts';
import { dagPath, timeText } from '../commands/dag-fields.ts';
import { runsPath } from './fields.ts';
import type { Run } from './fields.ts';

type DagLimits = { is_paused: boolean; max_active_runs: number };

/** Null for a run that has started. */
export async function whyQueued(client: Client, run: Run): Promise<string | null> {
  if (run.state !== 'queued') return null;
  if (Date.parse(run.run_after) > Date.now()) return `not before ${timeText(run.run_after)}`;
  const dag = await client.get<DagLimits>(`${dagPath(run.dag_id)}/details`);
  if (dag.is_paused) return WAIT_REASONS.paused;
  // Beside the limit of the DAG, a backfill has one of its own.
  if (run.run_type === 'backfill') return 'waits for its turn in its backfill, which may be paused';
  const types = RUN_TYPES.filter((type) => type !== 'backfill').map((type): [string, string] => ['run_type', type]);
  const query = new URLSearchParams([...types, ['state', 'running'], ['limit', '1']]);
  const path = `${runsPath(run.dag_id)}?${query.toString()}`;
  const { total_entries: running } = await client.get<{ total_entries: number }>(path);
  return running >= dag.max_active_runs
    ? `${WAIT_REASONS.max_active_runs} (${running} of ${dag.max_active_runs})`
    : 'about to start';
}
