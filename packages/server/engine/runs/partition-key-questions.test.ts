/** Partition mappers of authors: questions about keys, answers, and the runs that follow. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PartitionedAssetTimetable } from '@svc/spec/timetables/schema.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { claimCallbacks } from '../sql/callbacks.ts';
import { createAssetRuns, recordExternalEvent } from './asset-events.ts';
import { createRunCreator } from './create-run.ts';
import { putQuestions, recordAnswer } from './timetable-questions.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenantId = '';
let tenant: TenantDb;

beforeAll(async () => {
  ({ db, tenantId, tenant, close } = await openTestDatabase());
});
beforeEach(async () => {
  for (const table of ['dags', 'callback_requests', 'asset_events', 'assets']) {
    await sql`delete from ${sql.table(table)}`.execute(db.shared);
  }
});
afterAll(() => close?.());

const asset = (name: string) => ({ type: 'asset' as const, name, uri: `x://${name}` });
const [a, b] = [asset('a'), asset('b')];
const OWN = { mapper: 'custom', class: 'mine.Own', arguments: {} } as const;
const both: PartitionedAssetTimetable = {
  type: 'partitioned_asset',
  assets: { type: 'asset_all', objects: [a, b] },
  mappers: [{ asset: b, mapper: OWN }],
  default_mapper: OWN,
};
const one: PartitionedAssetTimetable = { ...both, assets: a, mappers: [] };

const register = (schedule: PartitionedAssetTimetable) =>
  registerScheduledDag(tenant, { dagId: 'd', schedule, dag: { max_active_runs: 100 } });
const assetRuns = () =>
  createAssetRuns({
    db,
    createRun: createRunCreator(createDagGraphs()),
    onEffects: () => {},
    log: { error: (details) => expect.unreachable(JSON.stringify(details)) },
  });
const considerAll = () => assetRuns().considerAll();

async function event(name: string, partitionKey: string): Promise<void> {
  const { id } = await tenant.selectFrom('assets').select('id').where('name', '=', name).executeTakeFirstOrThrow();
  await db.shared
    .transaction()
    .execute((trx) => recordExternalEvent(trx, tenantId, { assetId: id, extra: {}, partitionKey }));
  await considerAll();
}
const questions = async () => {
  await putQuestions(db);
  return (await claimCallbacks(db)).map(({ id, question }) => ({ id, question }));
};
const answer = (id: string | undefined, given: unknown, problem: string | null = null) =>
  recordAnswer(db, { tenantId, dagId: 'd', id: id ?? '', answer: given, problem });
const runKeys = async () =>
  (await tenant.selectFrom('dag_runs').select('partition_key').orderBy('id').execute()).map((run) => run.partition_key);
const warnings = () => tenant.selectFrom('dag_warnings').select(['warning_type', 'message']).execute();
const waiting = () => tenant.selectFrom('asset_queue').select(['partition_key', 'is_considered']).execute();
const dueNow = () => sql`update dags set timetable_ask_at = now() - interval '1 second'`.execute(db.shared);

describe('an event with a key that an own mapper was not asked about', () => {
  it('waits, is asked about once, and starts the run of the key that it is for', async () => {
    await register(one);
    await event('a', 'k1');
    expect(await waiting()).toEqual([{ partition_key: null, is_considered: true }]);
    const [first, ...more] = await questions();
    expect(first?.question).toEqual({ kind: 'keys', keys: [{ mapper: -1, key: 'k1' }] });
    expect(more).toEqual([]);
    // While the question is open another event does not take its place.
    await event('a', 'k2');
    expect(await questions()).toEqual([]);
    expect((await answer(first?.id, { keys: [{ mapper: -1, key: 'k1', keys: ['K1'] }] })).dueAt).not.toBeNull();
    await considerAll();
    expect(await runKeys()).toEqual(['K1']);
    const [second] = await questions();
    expect(second?.question).toEqual({ kind: 'keys', keys: [{ mapper: -1, key: 'k2' }] });
  });

  it('is remembered: the same key is not asked about again', async () => {
    await register(one);
    await event('a', 'k');
    await answer((await questions())[0]?.id, { keys: [{ mapper: -1, key: 'k', keys: ['K'] }] });
    await considerAll();
    await event('a', 'k');
    expect(await runKeys()).toEqual(['K', 'K']);
    expect(await questions()).toEqual([]);
  });

  it('is for several runs, or for none', async () => {
    await register(one);
    await event('a', 'k');
    await event('a', 'none');
    const [asked] = await questions();
    expect(asked?.question).toMatchObject({ keys: [{ key: 'k' }, { key: 'none' }] });
    const none = { mapper: -1, key: 'none', keys: [] };
    await answer(asked?.id, { keys: [none, { mapper: -1, key: 'k', keys: ['x', 'y'] }] });
    await considerAll();
    expect(await runKeys()).toEqual(['x', 'y']);
    expect(await waiting()).toEqual([]);
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from dag_run_asset_events`.execute(db.shared);
    expect(rows).toEqual([{ n: 2 }]);
  });

  it('waits for the events of the other assets under the key that both are for', async () => {
    await register(both);
    await event('a', 'eu-1');
    await answer((await questions())[0]?.id, { keys: [{ mapper: -1, key: 'eu-1', keys: ['1'] }] });
    await considerAll();
    expect(await runKeys()).toEqual([]);
    await event('b', 'us-1');
    const [asked] = await questions();
    expect(asked?.question).toEqual({ kind: 'keys', keys: [{ mapper: 0, key: 'us-1' }] });
    await answer(asked?.id, { keys: [{ mapper: 0, key: 'us-1', keys: ['1'] }] });
    await considerAll();
    expect(await runKeys()).toEqual(['1']);
  });
});

describe('a mapper of an author', () => {
  it('that raises for a key has told a warning of the DAG, and the event starts nothing', async () => {
    await register(one);
    await event('a', 'bad');
    await answer((await questions())[0]?.id, { keys: [{ mapper: -1, key: 'bad', problem: 'Own raised KeyError' }] });
    await considerAll();
    expect(await runKeys()).toEqual([]);
    expect(await waiting()).toEqual([]);
    expect(await warnings()).toEqual([
      { warning_type: 'partition key', message: 'an event of asset "a" starts no run: Own raised KeyError' },
    ]);
  });

  it('that nobody could ask loses nothing: the event waits, the DAG has a warning, and it is asked again', async () => {
    await register(one);
    await event('a', 'k');
    await answer((await questions())[0]?.id, null, 'the file does not import');
    expect(await warnings()).toEqual([{ warning_type: 'timetable', message: 'the file does not import' }]);
    expect(await questions()).toEqual([]);
    await dueNow();
    await answer((await questions())[0]?.id, { keys: [] });
    await considerAll();
    expect(await warnings()).toMatchObject([{ message: expect.stringContaining('said nothing about') as string }]);
    expect(await waiting()).toEqual([]);
  });

  it('is asked anew for a new version; the answer to the old one changes nothing', async () => {
    await register(one);
    await event('a', 'k');
    const [old] = await questions();
    await register({ ...one, default_mapper: { ...OWN, class: 'mine.Newer' } });
    expect(await answer(old?.id, { keys: [{ mapper: -1, key: 'k', keys: ['old'] }] })).toEqual({ dueAt: null });
    await considerAll();
    await answer((await questions())[0]?.id, { keys: [{ mapper: -1, key: 'k', keys: ['new'] }] });
    await considerAll();
    expect(await runKeys()).toEqual(['new']);
  });

  it('that gives way to a built-in one is not asked any more', async () => {
    await register(one);
    await event('a', 'k');
    await register({ ...one, default_mapper: { mapper: 'identity' } });
    await considerAll();
    expect(await runKeys()).toEqual(['k']);
    await dueNow();
    expect(await questions()).toEqual([]);
  });
});
