/**
 * The progress of an import. Written in the transaction of the imported rows, so that neither exists without the other.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

export type ImportKey = { source: string; kind: string };

/**
 * Returns where to continue. Undefined when there is nothing to continue: nothing was started, everything is done, or
 * the scope differs.
 */
export async function findPosition(db: TenantDb, key: ImportKey, scope: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('airflow_imports')
    .select(['scope', 'position', 'finished_at'])
    .where('source', '=', key.source)
    .where('kind', '=', key.kind)
    .executeTakeFirst();
  if (!row || row.finished_at !== null || row.scope !== scope) return undefined;
  return row.position ?? undefined;
}

export async function savePosition(
  db: TenantDb,
  key: ImportKey,
  { scope, position }: { scope: string; position: string },
): Promise<void> {
  await write(db, key, { scope, position, finished_at: null });
}

export async function saveFinished(db: TenantDb, key: ImportKey, scope: string): Promise<void> {
  await write(db, key, { scope, position: null, finished_at: new Date() });
}

async function write(
  db: TenantDb,
  key: ImportKey,
  values: { scope: string; position: string | null; finished_at: Date | null },
): Promise<void> {
  await db
    .insertInto('airflow_imports')
    .values({ ...key, ...values })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'source', 'kind']).doUpdateSet({ ...values, updated_at: sql`now()` }),
    )
    .execute();
}
