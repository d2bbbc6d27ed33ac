/** The ends of runs of any tenant, for code that stores something per run. */
import { sql } from 'kysely';
import type { RunState } from '@svc/spec/states.ts';
import type { Database } from '../database.ts';

/** `run` is `dag_runs.id`. */
export type RunKey = { tenantId: string; run: number };

export type RunEnd = {
  /** Null: it was deleted. */
  state: RunState | null;
  /** How long ago it ended, by the database's clock. */
  endedForMs: number;
};

export const runKey = ({ tenantId, run }: RunKey): string => `${tenantId}/${run}`;

/**
 * Returns ends by `runKey`. Runs of tenants that are not in this database are missing, because they belong to another
 * installation.
 */
export async function findRunEnds(db: Database, runs: readonly RunKey[]): Promise<Map<string, RunEnd>> {
  if (runs.length === 0) return new Map();
  const { rows } = await sql<RunKey & RunEnd>`
    select wanted.tenant_id as "tenantId", wanted.run::int8 as run, dag_runs.state,
      coalesce(extract(epoch from now() - coalesce(dag_runs.end_date, dag_runs.created_at)) * 1000, 0)::float8 as "endedForMs"
    from unnest(${runs.map(({ tenantId }) => tenantId)}::uuid[], ${runs.map(({ run }) => run)}::int8[]) as wanted (tenant_id, run)
    join tenants on tenants.id = wanted.tenant_id
    left join dag_runs on dag_runs.tenant_id = wanted.tenant_id and dag_runs.id = wanted.run`.execute(db.shared);
  return new Map(rows.map(({ state, endedForMs, ...key }) => [runKey(key), { state, endedForMs }]));
}
