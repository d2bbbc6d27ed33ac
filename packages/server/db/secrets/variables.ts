import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import { readModifyWrite } from '../read-modify-write.ts';
import type { TenantTables } from '../schema.ts';
import { pageWithTotal } from '../page-with-total.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

/** As stored: exactly one of `value_plain` and `value_sealed` is set. */
export type VariableRow = Omit<Selectable<TenantTables['variables']>, 'tenant_id'>;

/** The columns that a write sets. */
export type VariableValues = Omit<VariableRow, 'id' | 'created_at' | 'updated_at'>;

/** Not by value: the order would reveal how secrets compare, and sealed values have no order. */
export type VariableColumn = 'key' | 'id' | 'description' | 'is_encrypted';

export type VariableQuery = {
  limit: number;
  offset: number;
  order: readonly { column: VariableColumn; direction: 'asc' | 'desc' }[];
  /** All of them must match. */
  keys: readonly TextMatch[];
};

const LISTED = ['key', 'value_plain', 'value_sealed', 'description'] as const;
const COLUMNS = [...LISTED, 'id', 'created_at', 'updated_at'] as const;

export type ListedVariable = Pick<VariableRow, (typeof LISTED)[number]>;

export async function listVariables(
  db: TenantDb,
  query: VariableQuery,
): Promise<{ variables: ListedVariable[]; total: number }> {
  let matching = db.selectFrom('variables');
  for (const match of query.keys) matching = matching.where(matches('key', match));
  let page = matching.select(LISTED).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) {
    page = page.orderBy(column === 'is_encrypted' ? sql`value_sealed is not null` : column, direction);
  }
  const { rows, total } = await pageWithTotal(page, matching, query);
  return { variables: rows, total };
}

export const findVariable = (db: TenantDb, key: string): Promise<VariableRow | undefined> =>
  db.selectFrom('variables').select(COLUMNS).where('key', '=', key).executeTakeFirst();

/** Returns those of `keys` that exist. */
export const findVariables = (db: TenantDb, keys: readonly string[]): Promise<VariableRow[]> =>
  db
    .selectFrom('variables')
    .select(COLUMNS)
    .where('key', '=', sql<string>`any(${[...keys]}::text[])`)
    .execute();

/** Returns those of `keys` that exist, locked until the transaction ends. */
export async function lockVariables(db: TenantDb, keys: readonly string[]): Promise<Map<string, VariableRow>> {
  const rows = await db
    .selectFrom('variables')
    .select(COLUMNS)
    .where('key', '=', sql<string>`any(${[...keys]}::text[])`)
    .orderBy('key')
    .forUpdate()
    .execute();
  return byKey(rows);
}

/** Creates and changes variables in the caller's transaction. `change` decides from the stored row. */
export function saveVariables(
  db: TenantDb,
  keys: readonly string[],
  change: (key: string, stored: VariableRow | undefined) => VariableValues | undefined,
): Promise<Map<string, VariableRow>> {
  const rows = {
    lock: (wanted: readonly string[]) => lockVariables(db, wanted),
    async insert(values: readonly VariableValues[]) {
      const inserted = await db
        .insertInto('variables')
        .values([...values])
        .onConflict((conflict) => conflict.columns(['tenant_id', 'key']).doNothing())
        .returning(COLUMNS)
        .execute();
      return byKey(inserted);
    },
    async overwrite(values: readonly VariableValues[]) {
      const updated = await db
        .insertInto('variables')
        .values([...values])
        .onConflict((conflict) =>
          conflict.columns(['tenant_id', 'key']).doUpdateSet((eb) => ({
            value_plain: eb.ref('excluded.value_plain'),
            value_sealed: eb.ref('excluded.value_sealed'),
            description: eb.ref('excluded.description'),
            updated_at: sql`now()`,
          })),
        )
        .returning(COLUMNS)
        .execute();
      return byKey(updated);
    },
  };
  return readModifyWrite({ rows, keys, change });
}

/** Returns the keys of those that existed. */
export async function deleteVariables(db: TenantDb, keys: readonly string[]): Promise<string[]> {
  const deleted = await db
    .deleteFrom('variables')
    .where('key', '=', sql<string>`any(${[...keys]}::text[])`)
    .returning('key')
    .execute();
  return deleted.map((row) => row.key);
}

const byKey = (rows: readonly VariableRow[]) => new Map(rows.map((row) => [row.key, row]));
