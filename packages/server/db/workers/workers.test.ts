import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { openDatabase } from '../database.ts';
import type { Database } from '../database.ts';
import {
  countWorkers,
  deleteOldWorkers,
  listWorkers,
  recordWorker,
  removeWorker,
  requestDrain,
  touchWorkers,
} from './workers.ts';
import type { NewWorker } from './workers.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenantId: string;
let otherTenantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({
    url: database.url,
    maxOpenConns: 2,
    maxIdleConns: 1,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
  tenantId = (await ensureTenant(db.shared, 'default')).id;
  otherTenantId = (await ensureTenant(db.shared, 'other')).id;
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const REMOTE = { kind: 'remote', name: 'w', pool: 'gpu', state: 'idle', slots: 2, owner: 'p1' } as const;

async function newWorker(of: Partial<NewWorker> = {}): Promise<string> {
  const id = randomUUID();
  await recordWorker(db, { id, tenantId, ...REMOTE, name: `w-${id}`, ...of });
  return id;
}

/** Its stream broke, and it has joined anew. */
const comeBackTo = (owner: string, id: string) => recordWorker(db, { id, tenantId, ...REMOTE, owner });

const stateOf = async (id: string): Promise<string | undefined> =>
  (await listWorkers(db, { tenantId, id })).workers[0]?.state;

const age = (id: string, seconds: number) =>
  sql`update workers set last_seen_at = now() - make_interval(secs => ${seconds}) where id = ${id}`.execute(db.shared);

describe('rows of workers', () => {
  it('show a tenant its own workers and those of all, and nothing of another tenant', async () => {
    const [own, shared, foreign] = [
      await newWorker({ queues: ['gpu', 'big'] }),
      await newWorker({ tenantId: null, kind: 'local', pool: 'local' }),
      await newWorker({ tenantId: otherTenantId }),
    ];
    const { workers, total } = await listWorkers(db, { tenantId });
    expect(workers.map(({ id }) => id).toSorted()).toEqual([own, shared].toSorted());
    expect(total).toBe(2);
    expect((await listWorkers(db, { tenantId, id: foreign })).workers).toEqual([]);
    expect((await listWorkers(db, { tenantId, pool: 'big' })).workers.map(({ id }) => id)).toEqual([own]);
    expect((await listWorkers(db, { tenantId, kind: 'local' })).workers.map(({ id }) => id)).toEqual([shared]);
    expect(await countWorkers(db, { tenantId })).toEqual([
      { kind: 'local', pool: 'local', state: 'idle', workers: 1, slots: 2, running: 0 },
      { kind: 'remote', pool: 'gpu', state: 'idle', workers: 1, slots: 2, running: 0 },
    ]);
  });

  it('are written by the process that holds the stream, and by no other', async () => {
    const id = await newWorker();
    const sign = { id, state: 'busy', running: 2, attemptsServed: 5 } as const;
    expect(await touchWorkers(db, 'p1', [sign])).toEqual([{ id, drain: null, isRevoked: false }]);
    await comeBackTo('p2', id);
    expect(await touchWorkers(db, 'p1', [sign])).toEqual([]);
    await removeWorker(db, { id, owner: 'p1', state: 'lost', why: 'its stream broke' });
    expect(await stateOf(id)).toBe('idle');
    // What it served stays counted when it comes back to another process.
    await touchWorkers(db, 'p2', [{ id, state: 'idle', running: 0, attemptsServed: 1 }]);
    expect((await listWorkers(db, { tenantId, id })).workers[0]).toMatchObject({ attempts_served: 5, owner: 'p2' });
    await removeWorker(db, { id, owner: 'p2', state: 'gone', why: 'it was drained' });
    expect((await listWorkers(db, { tenantId, id })).workers[0]).toMatchObject({
      state: 'gone',
      ended_why: 'it was drained',
    });
  });

  it('say lost when their owner has died with them, and leave after a while', async () => {
    const id = await newWorker();
    await age(id, 60);
    expect(await stateOf(id)).toBe('lost');
    await touchWorkers(db, 'p1', [{ id, state: 'idle', running: 0, attemptsServed: 0 }]);
    expect(await stateOf(id)).toBe('idle');
    await age(id, 2 * 3600);
    await deleteOldWorkers(db);
    expect(await stateOf(id)).toBeUndefined();
  });

  it('carry a wish to drain to the owner, also across a reconnect, and only from the tenant it belongs to', async () => {
    const id = await newWorker();
    const shared = await newWorker({ tenantId: null, kind: 'local' });
    const wish = { by: 'ann', why: 'maintenance' };
    expect(await requestDrain(db.shared, { tenantId: otherTenantId, id, ...wish })).toBe(false);
    expect(await requestDrain(db.shared, { tenantId, id: shared, ...wish })).toBe(false);
    expect(await requestDrain(db.shared, { tenantId, id, ...wish })).toBe(true);
    expect(await requestDrain(db.shared, { tenantId, id, by: 'bob', why: 'later' })).toBe(true);
    await comeBackTo('p2', id);
    const [orders] = await touchWorkers(db, 'p2', [{ id, state: 'draining', running: 0, attemptsServed: 0 }]);
    expect(orders).toEqual({ id, drain: wish, isRevoked: false });
    await removeWorker(db, { id, owner: 'p2', state: 'gone', why: 'it was drained' });
    expect(await requestDrain(db.shared, { tenantId, id, ...wish })).toBe(false);
  });

  it('tell the owner when the token was revoked or the tenant disabled', async () => {
    const token = await db
      .tenant(otherTenantId)
      .insertInto('worker_tokens')
      .values({
        queues: ['gpu'],
        token_hash: Buffer.from('x'),
        token_start: 'x',
        created_by: 'ann',
        expires_at: new Date(0),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const id = await newWorker({ tenantId: otherTenantId, tokenId: token.id });
    const sign = { id, state: 'idle', running: 0, attemptsServed: 0 } as const;
    const isRevoked = async (): Promise<boolean | undefined> => (await touchWorkers(db, 'p1', [sign]))[0]?.isRevoked;
    // Expiry ends joining, not working.
    expect(await isRevoked()).toBe(false);
    await sql`update tenants set disabled_at = now() where id = ${otherTenantId}`.execute(db.shared);
    expect(await isRevoked()).toBe(true);
    await sql`update tenants set disabled_at = null where id = ${otherTenantId}`.execute(db.shared);
    expect(await isRevoked()).toBe(false);
    await db.tenant(otherTenantId).deleteFrom('worker_tokens').where('id', '=', token.id).execute();
    expect(await isRevoked()).toBe(true);
  });
});
