import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import { readModifyWrite } from '../read-modify-write.ts';
import type { TenantTables } from '../schema.ts';
import { pageWithTotal } from '../page-with-total.ts';
import { matches } from '../text-match.ts';
import type { TextMatch } from '../text-match.ts';

/** As stored: secrets are sealed, and only the vault can open them. */
export type ConnectionRow = Omit<Selectable<TenantTables['connections']>, 'tenant_id'>;

/** The columns that a write sets. */
export type ConnectionValues = Omit<ConnectionRow, 'id' | 'created_at' | 'updated_at'>;

export type ConnectionColumn = 'connection_id' | 'conn_type' | 'description' | 'host' | 'port' | 'id';

export type ConnectionQuery = {
  limit: number;
  offset: number;
  order: readonly { column: ConnectionColumn; direction: 'asc' | 'desc' }[];
  /** All of them must match. */
  ids: readonly TextMatch[];
};

/** The columns of a list, without the password. */
const LISTED = [
  'connection_id',
  'conn_type',
  'description',
  'host',
  'login',
  'schema',
  'port',
  'extra_sealed',
] as const;
const COLUMNS = [...LISTED, 'id', 'password_sealed', 'created_at', 'updated_at'] as const;

export type ListedConnection = Pick<ConnectionRow, (typeof LISTED)[number]>;

export async function listConnections(
  db: TenantDb,
  query: ConnectionQuery,
): Promise<{ connections: ListedConnection[]; total: number }> {
  let matching = db.selectFrom('connections');
  for (const match of query.ids) matching = matching.where(matches('connection_id', match));
  let page = matching.select(LISTED).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(column, direction);
  const { rows, total } = await pageWithTotal(page, matching, query);
  return { connections: rows, total };
}

export const findConnection = (db: TenantDb, id: string): Promise<ConnectionRow | undefined> =>
  db.selectFrom('connections').select(COLUMNS).where('connection_id', '=', id).executeTakeFirst();

/** Returns those of `ids` that exist. */
export const findConnections = (db: TenantDb, ids: readonly string[]): Promise<ConnectionRow[]> =>
  db
    .selectFrom('connections')
    .select(COLUMNS)
    .where('connection_id', '=', sql<string>`any(${[...ids]}::text[])`)
    .execute();

/** Returns those of `ids` that exist, locked until the transaction ends. */
export async function lockConnections(db: TenantDb, ids: readonly string[]): Promise<Map<string, ConnectionRow>> {
  const rows = await db
    .selectFrom('connections')
    .select(COLUMNS)
    .where('connection_id', '=', sql<string>`any(${[...ids]}::text[])`)
    .orderBy('connection_id')
    .forUpdate()
    .execute();
  return byId(rows);
}

/** Creates and changes connections in the caller's transaction. `change` decides from the stored row. */
export function saveConnections(
  db: TenantDb,
  ids: readonly string[],
  change: (id: string, stored: ConnectionRow | undefined) => ConnectionValues | undefined,
): Promise<Map<string, ConnectionRow>> {
  const rows = {
    lock: (keys: readonly string[]) => lockConnections(db, keys),
    async insert(values: readonly ConnectionValues[]) {
      const inserted = await db
        .insertInto('connections')
        .values([...values])
        .onConflict((conflict) => conflict.columns(['tenant_id', 'connection_id']).doNothing())
        .returning(COLUMNS)
        .execute();
      return byId(inserted);
    },
    async overwrite(values: readonly ConnectionValues[]) {
      const updated = await db
        .insertInto('connections')
        .values([...values])
        .onConflict((conflict) =>
          conflict.columns(['tenant_id', 'connection_id']).doUpdateSet((eb) => ({
            conn_type: eb.ref('excluded.conn_type'),
            description: eb.ref('excluded.description'),
            host: eb.ref('excluded.host'),
            login: eb.ref('excluded.login'),
            schema: eb.ref('excluded.schema'),
            port: eb.ref('excluded.port'),
            password_sealed: eb.ref('excluded.password_sealed'),
            extra_sealed: eb.ref('excluded.extra_sealed'),
            updated_at: sql`now()`,
          })),
        )
        .returning(COLUMNS)
        .execute();
      return byId(updated);
    },
  };
  return readModifyWrite({ rows, keys: ids, change });
}

/** Returns the ids of those that existed. */
export async function deleteConnections(db: TenantDb, ids: readonly string[]): Promise<string[]> {
  const deleted = await db
    .deleteFrom('connections')
    .where('connection_id', '=', sql<string>`any(${[...ids]}::text[])`)
    .returning('connection_id')
    .execute();
  return deleted.map((row) => row.connection_id);
}

const byId = (rows: readonly ConnectionRow[]) => new Map(rows.map((row) => [row.connection_id, row]));
