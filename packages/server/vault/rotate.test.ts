import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../db/database.ts';
import type { Database } from '../db/database.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { createKeyring } from './keyring.ts';
import { loadConnectionSecrets, loadVariable } from './load-secrets.ts';
import { reseal } from './rotate.ts';
import type { ResealResult } from './rotate.ts';
import { connectionBinding, triggerBinding, variableBinding } from './vault.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const LOST = Buffer.alloc(32, 3);
const old = createKeyring({ current: OLD, previous: [] });
const rotating = createKeyring({ current: NEW, previous: [OLD] });
const only = createKeyring({ current: NEW, previous: [] });
const ROWS = 25;

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenants: string[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({
    url: testDatabase.url,
    maxOpenConns: 6,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  const rows = await db.shared
    .insertInto('tenants')
    .values([{ name: 'blue' }, { name: 'red' }])
    .returning('id')
    .execute();
  tenants = rows.map((row) => row.id);
});
afterAll(async () => {
  await db?.close();
  await testDatabase?.drop();
});

/** Per tenant 25 connections and 25 variables, all sealed with the old key. */
beforeEach(async () => {
  await db.shared.deleteFrom('connections').execute();
  await db.shared.deleteFrom('variables').execute();
  for (const tenant of tenants) {
    const names = Array.from({ length: ROWS }, (_, n) => `n${n}`);
    await db
      .tenant(tenant)
      .insertInto('connections')
      .values(
        names.map((name) => ({
          connection_id: name,
          conn_type: 'x',
          password_sealed: old.seal(`p ${tenant} ${name}`, connectionBinding(tenant, name, 'password')),
          extra_sealed: name === 'n0' ? null : old.seal(`e ${name}`, connectionBinding(tenant, name, 'extra')),
        })),
      )
      .execute();
    await db
      .tenant(tenant)
      .insertInto('variables')
      .values(names.map((key) => ({ key, value_sealed: old.seal(`v ${key}`, variableBinding(tenant, key)) })))
      .execute();
  }
});

async function expectEverythingOpensWithTheNewKeyAlone(): Promise<void> {
  for (const tenantId of tenants) {
    const source = { db: db.tenant(tenantId), keyring: only, tenantId };
    for (let n = 0; n < ROWS; n += 1) {
      expect(await loadConnectionSecrets(source, `n${n}`)).toMatchObject({
        password: `p ${tenantId} n${n}`,
        extra: n === 0 ? null : `e n${n}`,
      });
      expect(await loadVariable(source, `n${n}`)).toBe(`v n${n}`);
    }
  }
}

describe('key rotation', () => {
  it('seals every row of every tenant with the current key, in small batches, and finds nothing to do after that', async () => {
    const progress: Readonly<ResealResult>[] = [];
    const result = await reseal({ db, keyring: rotating, batchSize: 7, onProgress: (soFar) => progress.push(soFar) });
    expect(result).toEqual({ examined: 100, resealed: 100, unreadable: [], contended: 0 });
    expect(progress.length).toBe(Math.ceil(50 / 7) * 2);
    expect(progress[0]).toMatchObject({ examined: 7, resealed: 7 });
    await expectEverythingOpensWithTheNewKeyAlone();
    expect(await reseal({ db, keyring: only })).toEqual({ examined: 100, resealed: 0, unreadable: [], contended: 0 });
  });

  it('stopped in the middle is finished by the next run', async () => {
    const stop = new Error('stopped');
    const interrupted = reseal({
      db,
      keyring: rotating,
      batchSize: 10,
      onProgress: ({ examined }) => {
        if (examined >= 40) throw stop;
      },
    });
    await expect(interrupted).rejects.toBe(stop);
    expect(await reseal({ db, keyring: rotating })).toMatchObject({ examined: 100, resealed: 60 });
    await expectEverythingOpensWithTheNewKeyAlone();
  });

  it('run several times at once does the work once', async () => {
    const results = await Promise.all([1, 2, 3].map(() => reseal({ db, keyring: rotating, batchSize: 10 })));
    expect(results.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(100);
    await expectEverythingOpensWithTheNewKeyAlone();
  });

  it('does not undo what a server writes after the row was read, and seals that instead', async () => {
    const [tenant = ''] = tenants;
    const binding = connectionBinding(tenant, 'n24', 'password');
    let reads = 0;
    const writeBetweenReadAndUpdate: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        reads += 1;
        if (reads > 1) return result;
        const password = old.seal('from the server', binding); // which has not been told the new key yet
        const rows = db.tenant(tenant).updateTable('connections').set({ password_sealed: password });
        await rows.where('connection_id', '=', 'n24').execute();
        return result;
      },
    };
    const shared = db.shared.withPlugin(writeBetweenReadAndUpdate);
    expect(await reseal({ db: { ...db, shared }, keyring: rotating })).toMatchObject({ resealed: 100, contended: 0 });
    const stored = await loadConnectionSecrets({ db: db.tenant(tenant), keyring: only, tenantId: tenant }, 'n24');
    expect(stored?.password).toBe('from the server');
  });

  it('leaves what no key opens as it is, and names it', async () => {
    const [tenant = ''] = tenants;
    const lost = createKeyring({ current: LOST, previous: [] }).seal('x', connectionBinding(tenant, 'n3', 'extra'));
    const scope = db.tenant(tenant);
    await scope.updateTable('connections').set({ extra_sealed: lost }).where('connection_id', '=', 'n3').execute();
    const result = await reseal({ db, keyring: rotating });
    expect(result).toMatchObject({ resealed: 100, contended: 0 });
    expect(result.unreadable).toEqual([expect.stringContaining('connections.extra of n3')]);
    const row = await scope
      .selectFrom('connections')
      .selectAll()
      .where('connection_id', '=', 'n3')
      .executeTakeFirstOrThrow();
    expect(row.extra_sealed).toBe(lost);
    expect(only.unseal(row.password_sealed ?? '', connectionBinding(tenant, 'n3', 'password'))).toContain('p ');
  });

  it('seals variables that were stored plainly before there was a key', async () => {
    const [tenant = ''] = tenants;
    const scope = db.tenant(tenant);
    await scope
      .updateTable('variables')
      .set({ value_plain: 'plain', value_sealed: null })
      .where('key', '=', 'n5')
      .execute();
    await reseal({ db, keyring: rotating });
    expect(await loadVariable({ db: scope, keyring: only, tenantId: tenant }, 'n5')).toBe('plain');
    const row = await scope.selectFrom('variables').selectAll().where('key', '=', 'n5').executeTakeFirstOrThrow();
    expect(row.value_plain).toBeNull();
  });

  it('seals what deferred tasks wait for, and leaves what was stored plainly', async () => {
    const [tenant = ''] = tenants;
    const scope = db.tenant(tenant);
    const attempts = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;
    const of = (attempt: string, column: 'kwargs' | 'next_kwargs') => triggerBinding(tenant, attempt, column);
    const shared = { kind: 'task', dag_id: 'd', version_number: 1, class_path: 'a.Trigger' } as const;
    await scope
      .insertInto('triggers')
      .values([
        {
          ...shared,
          task_id: 'sealed',
          attempt_id: attempts[0],
          kwargs: old.seal('{"a":1}', of(attempts[0], 'kwargs')),
          next_kwargs: old.seal('{"b":2}', of(attempts[0], 'next_kwargs')),
        },
        { ...shared, task_id: 'plain', attempt_id: attempts[1], kwargs: '{"c":3}', next_kwargs: '{}' },
      ])
      .execute();
    await reseal({ db, keyring: rotating });
    const rows = await scope.selectFrom('triggers').selectAll().orderBy('id').execute();
    expect(only.unseal(rows[0]?.kwargs ?? '', of(attempts[0], 'kwargs'))).toBe('{"a":1}');
    expect(only.unseal(rows[0]?.next_kwargs ?? '', of(attempts[0], 'next_kwargs'))).toBe('{"b":2}');
    expect([rows[1]?.kwargs, rows[1]?.next_kwargs]).toEqual(['{"c":3}', '{}']);
    await scope.deleteFrom('triggers').execute();
  });

  it('needs a key to seal with', async () => {
    const keyring = createKeyring({ current: null, previous: [OLD] });
    await expect(reseal({ db, keyring })).rejects.toThrow('SVC_SECRET_KEY');
  });
});
