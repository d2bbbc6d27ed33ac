/** The types of the tables are written by hand, and the migrations are the truth. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { declaredTables } from '@svc/testing/postgres/table-types.ts';
import type { DeclaredColumn, Kind } from '@svc/testing/postgres/table-types.ts';

type Stored = { table: string; column: string; type: string; nullable: boolean; optional: boolean };

const declared = declaredTables();
let database: OpenTestDatabase;
let stored: Stored[];

beforeAll(async () => {
  database = await openTestDatabase();
  const { rows } = await sql<Stored>`
    select c.table_name as "table", c.column_name as "column", c.udt_name as type, c.is_nullable = 'YES' as nullable,
      c.is_nullable = 'YES' or c.column_default is not null or c.is_identity = 'YES' or c.is_generated = 'ALWAYS' as optional
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema and t.table_type = 'BASE TABLE'
    order by c.table_name, c.ordinal_position`.execute(database.db.shared);
  stored = rows;
});
afterAll(() => database?.close());

describe('the types of the tables', () => {
  it('name each table and each column of the database, and no other', () => {
    const ours = stored.filter(({ table }) => !TABLES_OF_MIGRATIONS.has(table));
    const inDatabase = ours.map(({ table, column }) => `${table}.${column}`);
    const inTypes = [...declared].flatMap(([table, { columns, rest }]) => {
      const named = [...columns.keys()];
      const others = rest ? stored.filter((row) => row.table === table && !columns.has(row.column)) : [];
      return [...named, ...others.map(({ column }) => column)].map((column) => `${table}.${column}`);
    });
    expect(inTypes.toSorted()).toEqual(inDatabase.toSorted());
  });

  it('say which columns may be null, so that no null is read as a value', () => {
    expect(differing(({ nullable, kinds }, row) => kinds.includes('unknown') || nullable === row.nullable)).toEqual([]);
  });

  it('let an insert leave out a column only if Postgres has a value for it', () => {
    // The tenant scope gives each row its tenant.
    const isGiven = ({ column }: Stored): boolean => column === 'tenant_id';
    expect(differing(({ optional }, row) => !optional || row.optional || isGiven(row))).toEqual([]);
  });

  it('have the type that the driver makes of the column', () => {
    expect(differing(({ kinds }, { type }) => kinds.every((kind) => kindsOf(type).includes(kind)))).toEqual([]);
  });
});

/** Columns about which the declaration and the database do not agree. */
const differing = (agree: (column: DeclaredColumn, row: Stored) => boolean): string[] =>
  stored.flatMap((row) => {
    const table = declared.get(row.table);
    const column = table?.columns.get(row.column) ?? table?.rest;
    if (column === undefined || agree(column, row)) return [];
    const { type, nullable, optional } = row;
    return [
      `${row.table}.${row.column}: ${JSON.stringify({ type, nullable, optional })}, declared ${JSON.stringify(column)}`,
    ];
  });

function kindsOf(type: string): readonly Kind[] {
  if (type.startsWith('_')) return ['array'];
  if (['int2', 'int4', 'int8', 'float4', 'float8'].includes(type)) return ['number'];
  if (type === 'bool') return ['boolean'];
  if (type === 'bytea') return ['Buffer'];
  if (type === 'json' || type === 'jsonb') return ['other', 'array', 'unknown'];
  // A state is one of several words.
  return ['string', 'other'];
}

/** Kysely keeps in these which migrations are applied. */
const TABLES_OF_MIGRATIONS = new Set(['kysely_migration', 'kysely_migration_lock']);
