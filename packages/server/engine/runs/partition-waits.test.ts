/** Rollups and fan-outs against a real database: what a run waits for, which runs an event starts, and what people see. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { PartitionMapper } from '@svc/spec/timetables/partition-mappers.ts';
import type { WaitPolicy } from '@svc/spec/timetables/partition-windows.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { listPartitions } from '../../db/assets/partitions.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import type { AssetEventOutcome } from '../shared/attempts.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { createAssetRuns, recordAssetEvents } from './asset-events.ts';
import { createRunCreator } from './create-run.ts';
import { waitOf } from './partition-waits.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenantId = '';
let tenant: TenantDb;
const errors: string[] = [];

beforeAll(async () => {
  ({ db, tenantId, tenant, close } = await openTestDatabase());
});
beforeEach(async () => {
  for (const table of ['dags', 'assets']) await sql.raw(`delete from ${table}`).execute(db.shared);
  errors.length = 0;
});
afterAll(() => close?.());

const asset = (name: string) => ({ type: 'asset' as const, name, uri: `x://${name}` });
const startOf = (unit: 'hour' | 'day' | 'week', output: string) =>
  ({ mapper: 'start_of', unit, input_format: '%Y-%m-%d', output_format: output, timezone: 'Europe/Berlin' }) as const;
const week = (wait: WaitPolicy = { wait: 'all' }): PartitionMapper => ({
  mapper: 'rollup',
  upstream: startOf('week', '%Y-%m-%d'),
  window: { window: 'week', direction: 'forward' },
  wait_policy: wait,
});
const IDENTITY = { mapper: 'identity' } as const;

const consumer = (dagId: string, mapper: PartitionMapper, assets = asset('daily') as never) => {
  const schedule: TimetableSpec = { type: 'partitioned_asset', assets, mappers: [], default_mapper: mapper };
  return registerScheduledDag(tenant, { dagId, schedule, dag: {} });
};
async function happen(name: string, ...keys: string[]): Promise<void> {
  const event: AssetEventOutcome = { asset: { name, uri: `x://${name}` }, partitionKeys: keys };
  const source = { run: 1, dagId: 'producer', runId: 'r', taskId: 'write', mapIndex: -1, tenantId };
  await db.shared.transaction().execute((trx) => recordAssetEvents(trx, source, [event]));
  const runs = createAssetRuns({
    db,
    createRun: createRunCreator(createDagGraphs()),
    onEffects: () => {},
    log: { error: (_details, message) => void errors.push(message) },
  });
  await runs.considerAll();
  expect(errors).toEqual([]);
}
const runsOf = (dagId: string) =>
  tenant
    .selectFrom('dag_runs')
    .select(['partition_key', 'partition_date'])
    .where('dag_id', '=', dagId)
    .orderBy('id')
    .execute();

const DAYS = ['2026-05-04', '2026-05-05', '2026-05-06', '2026-05-07', '2026-05-08', '2026-05-09', '2026-05-10'];

it('a rollup starts the run of a week with its last day, once, and the run has the date of the week', async () => {
  await consumer('weekly', week());
  await happen('daily', ...DAYS.slice(0, 6));
  await happen('daily', '2026-05-04', '2026-05-11'); // one again, and one of the next week
  expect(await runsOf('weekly')).toEqual([]);
  const waiting = await listPartitions(tenant, tenantId, { dagId: 'weekly', isCreated: false });
  const found = waiting.find(({ partitionKey }) => partitionKey === '2026-05-04');
  const timetable = found?.timetable;
  if (timetable?.type !== 'partitioned_asset') throw new Error('the DAG waits for partitions');
  const keys = found?.arrived[0]?.keys ?? [];
  const seen = waitOf(timetable, '2026-05-04', { name: 'daily', uri: 'x://daily', aliases: [], keys });
  expect(seen).toMatchObject({ isRollup: true, isSatisfied: false, count: 7, problem: null });
  expect([seen.received.toSorted(), seen.required]).toEqual([DAYS.slice(0, 6), DAYS]);
  await happen('daily', '2026-05-10');
  await happen('daily', '2026-05-12');
  expect(await runsOf('weekly')).toEqual([
    { partition_key: '2026-05-04', partition_date: '2026-05-03T22:00:00.000000Z' },
  ]);
  const created = await listPartitions(tenant, tenantId, { dagId: 'weekly', isCreated: true });
  expect(created.map(({ arrived }) => arrived[0]?.keys.length)).toEqual([7]);
});

it('a rollup starts with as many keys as its policy says, and a key that is not in the window counts for none', async () => {
  await consumer('enough', week({ wait: 'minimum', count: 2 }));
  await consumer('all_but_one', week({ wait: 'minimum', count: -1 }));
  await happen('daily', '2026-05-04');
  expect(await runsOf('enough')).toEqual([]);
  await happen('daily', '2026-05-09');
  expect(await runsOf('enough')).toHaveLength(1);
  await happen('daily', ...DAYS.slice(1, 4));
  expect(await runsOf('all_but_one')).toEqual([]);
  await happen('daily', '2026-05-08');
  expect(await runsOf('all_but_one')).toHaveLength(1);
});

it('segments are complete in any order, and another asset of the condition is waited for as before', async () => {
  const segments: PartitionMapper = {
    mapper: 'rollup',
    upstream: { mapper: 'fixed', key: 'world' },
    window: { window: 'segments', segments: ['eu', 'us'] },
    wait_policy: { wait: 'all' },
  };
  const both = { type: 'asset_all' as const, objects: [asset('regions'), asset('rates')] };
  await registerScheduledDag(tenant, {
    dagId: 'world',
    schedule: {
      type: 'partitioned_asset',
      assets: both,
      mappers: [{ asset: asset('regions'), mapper: segments }],
      default_mapper: IDENTITY,
    },
    dag: {},
  });
  await happen('regions', 'us', 'moon', 'eu');
  expect(await runsOf('world')).toEqual([]);
  await happen('rates', 'world');
  expect(await runsOf('world')).toEqual([{ partition_key: 'world', partition_date: null }]);
});

it('a fan-out starts a run for each part of a window, and one over its limit starts none but warns', async () => {
  const fanOut = (max: number): PartitionMapper => ({
    mapper: 'fan_out',
    upstream: startOf('week', '%Y-%m-%d'),
    window: { window: 'week', direction: 'backward' },
    downstream: startOf('day', '%Y-%m-%d'),
    max_keys: max,
  });
  await consumer('each_day', fanOut(7));
  await consumer('too_many', fanOut(6));
  await happen('daily', '2026-05-11');
  expect((await runsOf('each_day')).map(({ partition_key: key }) => key)).toEqual([...DAYS.slice(1), '2026-05-11']);
  expect(await runsOf('too_many')).toEqual([]);
  const warnings = await tenant.selectFrom('dag_warnings').select('message').where('dag_id', '=', 'too_many').execute();
  expect(warnings.map(({ message }) => message)).toEqual([
    'an event of asset "daily" starts no run: the mapper returns 7 partition keys for one event, and 6 is the most',
  ]);
});
