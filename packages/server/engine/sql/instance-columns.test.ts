import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../db/database.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { CHANGED_INSTANCES, INSTANCE_COLUMNS, NEW_INSTANCES } from './instance-columns.ts';

let database: OpenTestDatabase;
let db: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  ({ db } = database);
});
afterAll(() => database?.close());

describe('the columns of task_instances', () => {
  it('are in the table with the type they have in Postgres, so that none is written as another or forgotten', async () => {
    const { rows } = await sql<{ name: string; type: string }>`
      select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = 'task_instances'::regclass and attnum > 0 and not attisdropped`.execute(db.shared);
    const stored = Object.fromEntries(rows.map(({ name, type }) => [name, type]));
    const types = Object.entries(INSTANCE_COLUMNS).map(([name, [type]]) => [name, SPELLED[type] ?? type]);
    expect(Object.fromEntries(types)).toEqual(stored);
  });

  it('without a default are all given to a new instance: an insert can leave out no other', async () => {
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute
      where attrelid = 'task_instances'::regclass and attnum > 0 and not attisdropped and attnotnull and not atthasdef`.execute(
      db.shared,
    );
    const inserted = NEW_INSTANCES.names.strings.join('').split(', ');
    expect(inserted).toEqual(expect.arrayContaining(rows.map(({ name }) => name)));
  });

  it('that say which instance it is are never assigned by an update', () => {
    const assigned = CHANGED_INSTANCES.assignments.strings.join('').split(', ');
    const keys = CHANGED_INSTANCES.sameKey.strings.join('').split(' and ');
    expect(keys).toEqual(['tenant_id', 'run', 'task_id', 'map_index'].map((name) => `t.${name} = k.${name}`));
    expect(assigned).not.toContain('map_index = k.map_index');
    expect(assigned).toContain('state = k.state');
  });
});

/** How Postgres spells types that SQL has a shorter word for. */
const SPELLED: Partial<Record<string, string>> = { int: 'integer', timestamptz: 'timestamp with time zone' };
