import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from './database.ts';
import type { Database, TenantDb } from './database.ts';

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let blue: TenantDb;
let red: TenantDb;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({
    url: testDatabase.url,
    maxOpenConns: 4,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const tenants = await db.shared
    .insertInto('tenants')
    .values([{ name: 'blue' }, { name: 'red' }])
    .returning('id')
    .execute();
  blue = db.tenant(tenants[0]?.id ?? '');
  red = db.tenant(tenants[1]?.id ?? '');
  for (const [scope, value] of [
    [blue, 'blue value'],
    [red, 'red value'],
  ] as const) {
    await scope
      .insertInto('variables')
      .values({ key: 'same', value_plain: value, value_sealed: null, description: null })
      .execute();
    await scope
      .insertInto('roles')
      .values({ name: 'viewer', permissions: ['read:dag'] })
      .execute();
    const user = await scope
      .insertInto('users')
      .values({ email: 'a@example.com', password_hash: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    await scope.insertInto('user_roles').values({ user_id: user.id, role_name: 'viewer' }).execute();
  }
});

afterAll(async () => {
  await db?.close();
  await testDatabase?.drop();
});

const valuesIn = async (scope: TenantDb) =>
  (await scope.selectFrom('variables').select('value_plain').execute()).map((row) => row.value_plain);

describe('a tenant scope', () => {
  it('reads its own rows only, under an alias, in a join, a subquery and a common table expression', async () => {
    expect(await valuesIn(blue)).toEqual(['blue value']);
    const aliased = await red
      .selectFrom('variables as v')
      .select('v.value_plain')
      .where('v.key', '=', 'same')
      .execute();
    expect(aliased).toEqual([{ value_plain: 'red value' }]);
    const joined = await blue
      .selectFrom('users')
      .leftJoin('user_roles', 'user_roles.user_id', 'users.id')
      .select('role_name')
      .execute();
    expect(joined).toHaveLength(1);
    const subquery = await blue
      .selectFrom((eb) => eb.selectFrom('variables').selectAll().as('inner'))
      .select('inner.value_plain')
      .execute();
    expect(subquery).toEqual([{ value_plain: 'blue value' }]);
    const common = await blue
      .with('mine', (qb) => qb.selectFrom('variables').selectAll())
      .selectFrom('mine')
      .select('value_plain')
      .execute();
    expect(common).toEqual([{ value_plain: 'blue value' }]);
  });

  it('keeps rows without a partner in a left join', async () => {
    const user = await blue
      .insertInto('users')
      .values({ email: 'lonely@example.com', password_hash: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    const rows = await blue
      .selectFrom('users')
      .leftJoin('user_roles', 'user_roles.user_id', 'users.id')
      .select('role_name')
      .where('users.id', '=', user.id)
      .execute();
    expect(rows).toEqual([{ role_name: null }]);
    await blue.deleteFrom('users').where('id', '=', user.id).execute();
  });

  it('updates and deletes its own rows only, also when the condition is an OR', async () => {
    await blue
      .updateTable('variables')
      .set({ description: 'touched' })
      .where((eb) => eb.or([eb('key', '=', 'same'), eb('key', '=', 'other')]))
      .execute();
    expect(await red.selectFrom('variables').select('description').execute()).toEqual([{ description: null }]);
    await blue.deleteFrom('variables').execute();
    expect(await valuesIn(blue)).toEqual([]);
    expect(await valuesIn(red)).toEqual(['red value']);
  });

  it('refuses an insert that names a tenant, and one fed by a query', async () => {
    const row = { tenant_id: 'x', key: 'k', value_plain: 'v', value_sealed: null, description: null };
    await expect(blue.insertInto('variables').values(row).execute()).rejects.toThrow('names tenant_id');
    const copy = blue
      .insertInto('roles')
      .columns(['name', 'permissions'])
      .expression((eb) => eb.selectFrom('roles').select(['name', 'permissions']));
    await expect(copy.execute()).rejects.toThrow('from a query');
  });

  it('refuses raw SQL on a tenant table that does not name the tenant, even inside a built query', async () => {
    await expect(sql`select * from variables`.execute(blue)).rejects.toThrow('must name tenant_id');
    await expect(sql`delete from connections`.execute(blue)).rejects.toThrow('must name tenant_id');
    const smuggled = blue
      .selectFrom('users')
      .select(sql<string>`(select value_plain from variables limit 1)`.as('leak'));
    await expect(smuggled.execute()).rejects.toThrow('must name tenant_id');
    await expect(sql`select 1 as one`.execute(blue)).resolves.toMatchObject({ rows: [{ one: 1 }] });
  });

  it('refuses tables that belong to no tenant', async () => {
    const unscoped = blue as unknown as Database['shared'];
    await expect(unscoped.selectFrom('tenants').selectAll().execute()).rejects.toThrow('has no tenant');
  });

  it('cannot reference a row of another tenant', async () => {
    const stranger = await red.selectFrom('users').select('id').executeTakeFirstOrThrow();
    const crossing = blue.insertInto('user_roles').values({ user_id: stranger.id, role_name: 'viewer' });
    await expect(crossing.execute()).rejects.toThrow('foreign key');
  });
});
