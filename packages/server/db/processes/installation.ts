/** What all processes of an installation share: its id, and whether its log directory is marked. */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { Moment } from '../schema.ts';

export type Installation = { id: string; logsMarkedAt: Moment | null };

export async function findInstallation(db: Database): Promise<Installation> {
  const { id, logs_marked_at: logsMarkedAt } = await db.shared
    .selectFrom('installation')
    .select(['id', 'logs_marked_at'])
    .executeTakeFirstOrThrow();
  return { id, logsMarkedAt };
}

/** Records that a scheduler has put the installation's marker into its directory of task logs. */
export async function recordLogsMarked(db: Database): Promise<void> {
  await db.shared
    .updateTable('installation')
    .set({ logs_marked_at: sql<string>`now()` })
    .execute();
}
