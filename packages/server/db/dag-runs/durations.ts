/** How long the runs of a DAG usually take. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { FINISHED_RUN } from '../state-sets.ts';

export type DurationStats = {
  mean: number;
  /** The most frequent duration in whole seconds. Null if no two runs took equally long. */
  mode: number | null;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
};

/** More runs change the figures little, and older ones tell little about the next one. */
const NEWEST = 1_000;

/** Returns null for a DAG of which no run has ended. Query plan: dag_runs_newest, limited. */
export async function findDurationStats(
  db: TenantDb,
  { tenantId, dagId }: { tenantId: string; dagId: string },
): Promise<DurationStats | null> {
  const { rows } = await sql<DurationStats & { runs: number }>`
    with ended as (
      select duration from dag_runs
      where tenant_id = ${tenantId} and dag_id = ${dagId} and state in ${FINISHED_RUN.raw} and duration is not null
      order by run_after desc, id desc limit ${NEWEST}
    ), common as (
      select round(duration)::float8 as seconds from ended group by 1 having count(*) > 1
      order by count(*) desc, 1 limit 1
    )
    select count(*)::int as runs, avg(duration)::float8 as mean, (select seconds from common) as mode,
      percentile_cont(0.5) within group (order by duration) as p50,
      percentile_cont(0.9) within group (order by duration) as p90,
      percentile_cont(0.95) within group (order by duration) as p95,
      percentile_cont(0.99) within group (order by duration) as p99
    from ended`.execute(db);
  const [row] = rows;
  if (!row || row.runs === 0) return null;
  const { runs: _runs, ...stats } = row;
  return stats;
}
