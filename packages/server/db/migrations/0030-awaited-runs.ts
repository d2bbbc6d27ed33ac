import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Triggers that wait for runs or tasks of another DAG. The engine decides them when those end, so it must find the
 * triggers by the run; no triggerer waits for them. Also deadlines that are over, for people who look at a run later.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `alter table triggers
      -- What is waited for, as JSON.
      add column awaits text,
      add column awaits_dag_id text,
      -- The runs it is about: \`id:\` and a run id, or \`at:\` and a logical date.
      add column awaits_runs text[]`,
    `drop index triggers_unheld`,
    `create index triggers_unheld on triggers (tenant_id, id)
      where triggerer_id is null and fired_at is null and fires_at is null and awaits_dag_id is null`,
    `create index triggers_awaiting on triggers (tenant_id, awaits_dag_id)
      where awaits_dag_id is not null and fired_at is null`,
    // Kept deadlines stay, like missed ones, because people look at both.
    `alter table deadlines add column kept_at timestamptz`,
    `drop index deadlines_due`,
    `create index deadlines_due on deadlines (deadline_time) where missed_at is null and kept_at is null`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
