/** Helpers of the backfill commands: how a backfill is shown, and its runs. */
import type { Backfill, DagRun } from '@svc/client/wire-types.ts';
import { InvalidArgumentError } from 'commander';
import type { Client } from '../client/client.ts';

export const stateOfBackfill = (backfill: Pick<Backfill, 'completed_at' | 'is_paused'>): string =>
  backfill.completed_at !== null ? 'completed' : backfill.is_paused ? 'paused' : 'active';

export function parseBackfillId(text: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError('A backfill has a number: "svc backfill list" shows it.');
  }
  return id;
}

/**
 * Returns the runs of a backfill, oldest first. A run does not name its backfill. However, each date has one run, and a
 * DAG never has two active backfills.
 */
export async function runsOfBackfill(client: Client, backfill: Backfill): Promise<DagRun[]> {
  const runs = await client.list('/api/v2/dags/{dag_id}/dagRuns', 'dag_runs', {
    path: { dag_id: backfill.dag_id },
    query: {
      run_type: ['backfill'],
      logical_date_gte: backfill.from_date,
      logical_date_lte: backfill.to_date,
      order_by: ['logical_date'],
    },
  });
  // New runs may move others to the next page, so some may occur twice.
  return [...new Map(runs.map((run) => [run.dag_run_id, run])).values()];
}
