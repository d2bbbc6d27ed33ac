/** For who sees the conf of runs masked: which runs a search must not find, because what it found is not shown. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { conditionsOf, confCondition } from './filters.ts';
import type { RunFilter } from './filters.ts';

export type ConfOfRun = { id: number; conf: string };

/** The conf of the runs a filter finds, at most so many. */
export async function findConfs(db: TenantDb, filter: RunFilter, limit: number): Promise<ConfOfRun[]> {
  let query = db
    .selectFrom('dag_runs as r')
    .select(['r.id', sql<string>`r.conf::text`.as('conf')])
    .limit(limit);
  for (const condition of conditionsOf(filter)) query = query.where(condition);
  return query.execute();
}

/** Of the given confs, those a search would find: by the very same condition, so that the two cannot disagree. */
export async function matchingConfs(db: TenantDb, confs: readonly ConfOfRun[], wanted: string): Promise<Set<number>> {
  if (confs.length === 0) return new Set();
  const { rows } = await sql<{ id: number }>`
    select r.id from unnest(${confs.map(({ id }) => id)}::bigint[], ${confs.map(({ conf }) => conf)}::text[]) as g(id, text)
    cross join lateral (select g.id, g.text::jsonb as conf) r
    where ${confCondition(wanted)}`.execute(db);
  return new Set(rows.map(({ id }) => Number(id)));
}
