import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilLockWaits } from '@svc/testing/postgres/lock-waits.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { startScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import type { ScratchCluster } from '@svc/testing/postgres/scratch-cluster.ts';
import { SchemaTooNewError, migrate } from './migrate.ts';
import { DatabaseUnavailableError } from './outage.ts';

let cluster: ScratchCluster;
beforeAll(async () => {
  cluster = await startScratchCluster();
});
afterAll(() => cluster?.remove());

it('migrating makes the schema once when many processes migrate an empty database at the same moment', async () => {
  const url = await cluster.createDatabase();
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => migrate(url)));
  expect(outcomes.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
  expect(await queryDatabase(url, 'select count(*)::int as tables from tenants')).toEqual([{ tables: 0 }]);
});

it('migrating has nothing to do the second time', async () => {
  const url = await cluster.createDatabase();
  await migrate(url);
  expect(await migrate(url)).toEqual({ applied: [] });
});

it('migrating refuses a schema of a newer version, and leaves it as it is', async () => {
  const url = await cluster.createDatabase();
  await migrate(url);
  await queryDatabase(url, `insert into kysely_migration (name, timestamp) values ('9999-from-the-future', 'now')`);
  await expect(migrate(url)).rejects.toThrow(SchemaTooNewError);
  await expect(migrate(url)).rejects.toThrow(/9999-from-the-future.*run that version, or restore a backup/);
});

it('migrating leaves nothing half-made when the database goes away in the middle, and starts over', async () => {
  const url = await cluster.createDatabase();
  const faults: unknown[] = [];
  for (let delayMs = 0; delayMs < 60; delayMs += 10) {
    const interrupted = migrate(url).catch((error: unknown) => faults.push(error));
    await sleep(delayMs);
    await cluster.stop('immediate');
    await interrupted;
    await cluster.start();
  }
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.filter((fault) => !(fault instanceof DatabaseUnavailableError))).toEqual([]);
  await migrate(url);
  expect(await queryDatabase(url, 'select count(*)::int as tables from audit_log')).toEqual([{ tables: 0 }]);
});

it('migrating notices a database that stops answering while it waits for its turn', async () => {
  const url = await cluster.createDatabase();
  await migrate(url);
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  await blocker.query('begin; lock table kysely_migration');
  const waiting = migrate(url).catch((error: unknown) => error);
  await untilLockWaits(url);
  cluster.pause();
  try {
    expect(await waiting).toBeInstanceOf(DatabaseUnavailableError);
  } finally {
    cluster.resume();
  }
  await blocker.end();
});
