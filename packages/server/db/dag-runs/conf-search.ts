/**
 * For callers that see masked conf: finds runs that a search must not show them, because the match is in a masked part.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { conditionsOf, confCondition } from './filters.ts';
import type { RunFilter } from './filters.ts';

export type ConfOfRun = { id: number; conf: string };

/** Returns the conf of the runs that a filter finds, at most `limit`. */
export async function findConfs(db: TenantDb, filter: RunFilter, limit: number): Promise<ConfOfRun[]> {
  let query = db
    .selectFrom('dag_runs as r')
    .select(['r.id', sql<string>`r.conf::text`.as('conf')])
    .limit(limit);
  for (const condition of conditionsOf(filter)) query = query.where(condition);
  return query.execute();
}

/**
 * Returns which of the given confs a search would find. It uses the same condition, so that the two cannot disagree.
 */
export async function matchingConfs(db: TenantDb, confs: readonly ConfOfRun[], wanted: string): Promise<Set<number>> {
  if (confs.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`
    select r.id from unnest(${confs.map(({ id }) => id)}::bigint[], ${confs.map(({ conf }) => conf)}::text[]) as g(id, text)
    cross join lateral (select g.id, g.text::jsonb as conf) r
    where ${confCondition(wanted)}`.execute(db);
  return new Set(rows.map(({ id }) => Number(id)));
}
