/** What the commands about backfills share: the fields of one on the wire, and its runs. */
import { InvalidArgumentError } from 'commander';
import type { Client } from '../client/client.ts';
import { runsPath } from '../runs/fields.ts';
import type { Run } from '../runs/fields.ts';

export const BACKFILLS_PATH = '/api/v2/backfills';
export const backfillPath = (id: number): string => `${BACKFILLS_PATH}/${id}`;

export type Backfill = {
  id: number;
  dag_id: string;
  from_date: string;
  to_date: string;
  dag_run_conf: Record<string, unknown> | null;
  is_paused: boolean;
  reprocess_behavior: string;
  max_active_runs: number;
  created_at: string;
  completed_at: string | null;
};

export const stateOfBackfill = (backfill: Pick<Backfill, 'completed_at' | 'is_paused'>): string =>
  backfill.completed_at !== null ? 'completed' : backfill.is_paused ? 'paused' : 'active';

export function parseBackfillId(text: string): number {
  const id = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(id)) {
    throw new InvalidArgumentError('A backfill has a number: "svc backfill list" shows it.');
  }
  return id;
}

/** Oldest first. A run does not name its backfill, but each date has one run, and no two backfills of a DAG run at once. */
export async function runsOfBackfill(client: Client, backfill: Backfill): Promise<Run[]> {
  const query = new URLSearchParams({
    run_type: 'backfill',
    logical_date_gte: backfill.from_date,
    logical_date_lte: backfill.to_date,
    order_by: 'logical_date',
    limit: '500',
  });
  const runs = new Map<string, Run>();
  for (let offset = 0; ;) {
    query.set('offset', String(offset));
    const path = `${runsPath(backfill.dag_id)}?${query.toString()}`;
    const page = await client.get<{ dag_runs: Run[]; total_entries: number }>(path);
    for (const run of page.dag_runs) runs.set(run.dag_run_id, run);
    offset += page.dag_runs.length;
    if (page.dag_runs.length === 0 || offset >= page.total_entries) return [...runs.values()];
  }
}
