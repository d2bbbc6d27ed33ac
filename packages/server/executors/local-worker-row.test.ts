import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from '../db/database.ts';
import type { Database } from '../db/database.ts';
import { TOUCH_EVERY_MS, listWorkers } from '../db/workers/workers.ts';
import { createLocalWorkerRow } from './local-worker-row.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({
    url: database.url,
    maxOpenConns: 4,
    maxIdleConns: 4,
    statementTimeoutMs: 60_000,
    idleInTransactionTimeoutMs: 60_000,
  });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const INFO = { hostname: 'host', pid: 7, version: '1.0.0' } as Parameters<
  ReturnType<typeof createLocalWorkerRow>['connected']
>[1];
const quiet = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
const rowOf = (processId: string, running = 0) =>
  createLocalWorkerRow({ db, processId, slots: 8, running: () => running, log: quiet });
const shown = async (id: string) => (await listWorkers(db, { tenantId: null, id })).workers[0];

it('a worker that is killed is shown as gone, whatever was being written about it', async () => {
  for (let time = 0; time < 20; time += 1) {
    const row = rowOf('p1', 3);
    const id = randomUUID();
    row.connected(id, INFO);
    vi.advanceTimersByTime(TOUCH_EVERY_MS);
    await row.ended('signal SIGKILL');
    expect(await shown(id)).toMatchObject({ state: 'gone', running: 0, ended_why: 'signal SIGKILL' });
  }
});

it('a worker that is not connected gives no signs of life, so that it is shown as lost and not as idle', async () => {
  const [row, other] = [rowOf('p1'), rowOf('p2')];
  const id = randomUUID();
  other.connected(randomUUID(), INFO);
  row.connected(id, INFO);
  await eventually(() => {
    vi.advanceTimersByTime(TOUCH_EVERY_MS);
    expect(row.othersFree()).toBe(8);
  });
  row.disconnected(id);
  expect(await shown(id)).toMatchObject({ state: 'idle' });
  const { rows } = await sql<{ seen: string }>`
    update workers set last_seen_at = now() - interval '1 minute' where id = ${id}
    returning last_seen_at::text as seen`.execute(db.shared);
  expect(await shown(id)).toMatchObject({ state: 'lost' });
  vi.advanceTimersByTime(3 * TOUCH_EVERY_MS);
  await other.ended('over');
  await row.ended('over'); // comes after everything else that it writes, and does not change when it was seen
  const after = await sql`select last_seen_at::text as seen from workers where id = ${id}`.execute(db.shared);
  expect(after.rows).toEqual(rows);
});

it('a scheduler knows how many slots the local workers of other processes have free', async () => {
  const [own, other] = [rowOf('own'), rowOf('other', 3)];
  other.connected(randomUUID(), INFO);
  own.connected(randomUUID(), INFO);
  await eventually(async () => {
    vi.advanceTimersByTime(TOUCH_EVERY_MS);
    expect([own.othersFree(), other.othersFree()]).toEqual([5, 8]);
  });
  await other.ended('over');
  await eventually(async () => {
    vi.advanceTimersByTime(TOUCH_EVERY_MS);
    expect(own.othersFree()).toBe(0);
  });
  await own.ended('over');
});
