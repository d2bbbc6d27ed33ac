/**
 * Statistics of tables that grow fast. Plans are kept (transaction.ts), and a plan for 40 rows is a bad one for 4,000: it reads
 * them all for every task that ends, 20 ms instead of one. Postgres makes a new plan with new statistics, but autovacuum looks
 * for what has grown every minute only, which is long for a control plane in its first hour. So a table that has doubled is
 * analyzed here, until it is so large that doubling takes its time.
 */
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Those that the road between two tasks touches. */
export const GROWING_TABLES = ['dag_runs', 'task_instances', 'rendered_fields', 'xcoms'];
/** In pages of 8 kB, some 150,000 task instances: to analyze them takes a tenth of a second. */
const GROWN_UP = 10_000;

/** How many were analyzed. */
export async function analyzeGrowingTables(db: Database): Promise<number> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from (
      select relname, relpages, reltuples, pg_relation_size(oid) / 8192 as pages from pg_class
      where oid = any(${GROWING_TABLES}::text[]::regclass[])
    ) as t
    where pages > 0 and pages < ${GROWN_UP} and (reltuples < 0 or pages >= relpages * 2)`.execute(db.shared);
  // Somebody else may be at it.
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db.shared);
  return rows.length;
}
