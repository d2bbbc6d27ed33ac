/**
 * Refreshes the statistics of tables that grow fast. Generic query plans are kept (transaction.ts), and a plan for 40
 * rows is bad for 4,000: it reads all of them for every task that ends. Postgres makes a new plan after new statistics,
 * but autovacuum looks only once a minute, which is long for the first hour of a control plane. This function analyzes
 * a table that has doubled, until it is so large that doubling takes long.
 */
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The tables on the path between two tasks. */
export const GROWING_TABLES = ['dag_runs', 'task_instances', 'rendered_fields', 'xcoms'];
/** In pages of 8 kB; about 150,000 task instances. */
const GROWN_UP = 10_000;

/** Returns how many tables were analyzed. */
export async function analyzeGrowingTables(db: Database): Promise<number> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from (
      select relname, relpages, reltuples, pg_relation_size(oid) / 8192 as pages from pg_class
      where oid = any(${GROWING_TABLES}::text[]::regclass[])
    ) as t
    where pages > 0 and pages < ${GROWN_UP} and (reltuples < 0 or pages >= relpages * 2)`.execute(db.shared);
  // Another process may be analyzing the table.
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db.shared);
  return rows.length;
}
