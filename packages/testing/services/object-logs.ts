/** Task logs in an object store, at the pace of tests, beside the rows of the tries that write them. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { openDatabase } from '@svc/server/db/database.ts';
import type { Database } from '@svc/server/db/database.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import type { LogKey } from '@svc/server/logs/log-key.ts';
import { createObjectLogStore } from '@svc/server/logs/objects/object-log-store.ts';
import type { ObjectStore } from '@svc/server/logs/objects/object-store.ts';
import type { LogStore } from '@svc/server/logs/store.ts';
import { insertDag, insertRun } from '../engine/run-rows.ts';
import { eventually } from '../eventually.ts';
import { createTestDatabase } from '../postgres/test-database.ts';

export const TEST_PACE = { lookEveryMs: 20, leaseMs: 4_000, partBytes: 20_000, settleMs: 0 };
export const TEST_PREFIX = 'some/where';

export type LogPlant = Awaited<ReturnType<typeof startLogPlant>>;

export async function startLogPlant() {
  const database = await createTestDatabase();
  const open = (): Database =>
    openDatabase({
      url: database.url,
      maxOpenConns: 6,
      maxIdleConns: 2,
      statementTimeoutMs: 30_000,
      idleInTransactionTimeoutMs: 30_000,
    });
  const db = open();
  const { id: tenantId } = await ensureTenant(db.shared, 'default');
  await insertDag(db.tenant(tenantId), { dagId: 'dag', taskIds: ['task'] });
  const opened: { logs: LogStore; db: Database }[] = [];
  const messages: string[] = [];
  const say = (_details: object, message: string): void => void messages.push(message);

  return {
    db,
    databaseUrl: database.url,
    tenantId,
    messages,
    /** As another process would have it. */
    openLogs(store: ObjectStore, options: { uploads?: boolean; maxSpoolBytes?: number } = {}): LogStore {
      const own = open();
      const logs = createObjectLogStore({
        store,
        prefix: TEST_PREFIX,
        databaseUrl: database.url,
        writing: own,
        reading: own,
        processId: randomUUID(),
        maxSpoolBytes: options.maxSpoolBytes ?? 1e9,
        pace: TEST_PACE,
        log: { info: say, warn: say, error: say },
      });
      if (options.uploads !== false) logs.background?.start();
      opened.push({ logs, db: own });
      return logs;
    },
    /** A try that runs; its log is not over before `finish`. */
    async begin(runId = `run-${randomUUID()}`): Promise<LogKey> {
      await insertRun(db.tenant(tenantId), {
        dagId: 'dag',
        runId,
        instances: [{ task_id: 'task', state: 'running', try_number: 1 }],
      });
      return { tenantId, dagId: 'dag', runId, taskId: 'task', mapIndex: -1, tryNumber: 1 };
    },
    async finish({ runId }: LogKey): Promise<void> {
      await sql`update task_instances set state = 'success' where run in (select id from dag_runs where run_id = ${runId})`.execute(
        db.shared,
      );
    },
    async chunksLeft(): Promise<number> {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from log_chunks`.execute(db.shared);
      return rows[0]?.count ?? 0;
    },
    /** Logs that are not whole in the store, and removals that are not done. */
    async unfinished(): Promise<number> {
      const { rows } = await sql<{ count: number }>`
        select (select count(*) from task_logs where stored_at is null)::int + (select count(*) from log_removals)::int as count`.execute(
        db.shared,
      );
      return rows[0]?.count ?? 0;
    },
    /** Ends what `openLogs` has begun. */
    async closeLogs(): Promise<void> {
      for (const each of opened.splice(0)) {
        await each.logs.close();
        await each.db.close();
      }
    },
    async close(): Promise<void> {
      await this.closeLogs();
      await db.close();
      await database.drop();
    },
  };
}

/** Reads again while the store answers later than a reader waits, as it may on a busy machine. */
export const textOf = (...read: Parameters<typeof readOnce>): Promise<string> => eventually(() => readOnce(...read));

export async function readOnce(
  logs: LogStore,
  logKey: LogKey,
  range?: { from?: number; to?: number },
): Promise<string> {
  const blocks: Buffer[] = [];
  for await (const block of logs.read(logKey, range)) blocks.push(block);
  return Buffer.concat(blocks).toString('utf8');
}

export async function keysOf(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.list(prefix)) keys.push(...page.map(({ key }) => key));
  return keys.sort();
}

/** Numbered, so that one that is missing, doubled or torn shows. */
export const numberedLines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify({ event: `line ${from + index} äö` })}\n`).join('');
