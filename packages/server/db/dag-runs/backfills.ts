/** Backfills for lists and pages. engine/sql/backfills.ts has the engine's statements. */
import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';

export type BackfillRow = Omit<Selectable<TenantTables['backfills']>, 'tenant_id'> & { display_name: string };
export type BackfillColumn = 'id' | 'created_at' | 'from_date' | 'to_date' | 'completed_at';

export type BackfillQuery = {
  limit: number;
  offset: number;
  order: readonly { column: BackfillColumn; direction: 'asc' | 'desc' }[];
  dagId?: string;
  /** True: only those that are not completed. False: only completed ones. */
  isActive?: boolean;
};

const selectBackfills = (db: TenantDb) => db.selectFrom('backfills as b').innerJoin('dags', 'dags.dag_id', 'b.dag_id');

export async function listBackfills(
  db: TenantDb,
  query: BackfillQuery,
): Promise<{ backfills: BackfillRow[]; total: number }> {
  let matching = selectBackfills(db);
  if (query.dagId !== undefined) matching = matching.where('b.dag_id', '=', query.dagId);
  if (query.isActive !== undefined) {
    matching = matching.where('b.completed_at', query.isActive ? 'is' : 'is not', null);
  }
  let page = matching.selectAll('b').select('dags.display_name').limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(`b.${column}`, direction);
  const [backfills, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { backfills, total: count.total };
}

export const findBackfill = (db: TenantDb, id: number): Promise<BackfillRow | undefined> =>
  selectBackfills(db).selectAll('b').select('dags.display_name').where('b.id', '=', id).executeTakeFirst();

export const findOpenBackfill = (db: TenantDb, dagId: string): Promise<{ id: number } | undefined> =>
  db
    .selectFrom('backfills')
    .select('id')
    .where('dag_id', '=', dagId)
    .where('completed_at', 'is', null)
    .executeTakeFirst();
