import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

export type ImportErrorRow = Omit<Selectable<TenantTables['import_errors']>, 'tenant_id'>;
export type ImportErrorColumn = 'id' | 'at' | 'filename' | 'bundle_name' | 'stack_trace';

export type ImportErrorQuery = {
  limit: number;
  offset: number;
  order: readonly { column: ImportErrorColumn; direction: 'asc' | 'desc' }[];
  filenames: readonly TextMatch[];
  filename?: string;
  bundleName?: string;
};

const COLUMNS = ['id', 'bundle_name', 'filename', 'stack_trace', 'at'] as const;

export async function listImportErrors(
  db: TenantDb,
  query: ImportErrorQuery,
): Promise<{ errors: ImportErrorRow[]; total: number }> {
  let matching = db.selectFrom('import_errors');
  for (const match of query.filenames) matching = matching.where(matches('filename', match));
  if (query.filename !== undefined) matching = matching.where('filename', '=', query.filename);
  if (query.bundleName !== undefined) matching = matching.where('bundle_name', '=', query.bundleName);
  let page = matching.select(COLUMNS).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(column, direction);
  const [errors, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { errors, total: count.total };
}

export const findImportError = (db: TenantDb, id: number): Promise<ImportErrorRow | undefined> =>
  db.selectFrom('import_errors').select(COLUMNS).where('id', '=', id).executeTakeFirst();

/** One error per file: the newest replaces the one before. */
export async function putImportError(
  db: TenantDb,
  error: { bundleName: string; filename: string; stackTrace: string },
): Promise<ImportErrorRow> {
  return db
    .insertInto('import_errors')
    .values({ bundle_name: error.bundleName, filename: error.filename, stack_trace: error.stackTrace })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'bundle_name', 'filename'])
        .doUpdateSet({ stack_trace: error.stackTrace, at: sql`now()` }),
    )
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Called when the file compiles again, or is gone. */
export async function deleteImportError(db: TenantDb, file: { bundleName: string; filename: string }): Promise<void> {
  await db
    .deleteFrom('import_errors')
    .where('bundle_name', '=', file.bundleName)
    .where('filename', '=', file.filename)
    .execute();
}
