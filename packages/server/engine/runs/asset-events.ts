/**
 * From an asset event to the runs that wait for it, in two steps:
 *
 *   record     in the transaction that causes the event (a task's finish, a call): the event, and a row in the queue of
 *              each DAG whose schedule names the asset. It only inserts, so it takes no lock for which others may wait.
 *   consider   after that commit, per DAG under the lock of its row: does the condition hold? Then a run is created,
 *              and all waiting events become its cause.
 *
 * When two tasks finish at the same moment, the process that considers a DAG last sees the events of both. A process
 * that dies between the steps leaves rows that were not considered; the tick finds them.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import type { Database, SharedDb } from '../../db/database.ts';
import {
  dropQueued,
  findUnconsidered,
  assignQueueToRun,
  insertEvents,
  lockConsumer,
  markConsidered,
  queueForConsumers,
  queuedAssets,
  resolveAssets,
} from '../sql/asset-events.ts';
import { countLiveRuns } from '../sql/due-dags.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { isOutage } from '../../db/outage.ts';
import { noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { holds, leavesOf, refersTo } from './asset-condition.ts';
import type { RecordAssetEvents } from '../advance/attempt-outputs.ts';
import { nowIso } from '@svc/spec/clock.ts';
import { assetTriggeredRun } from './asset-triggered-run.ts';
import type { CreateRun } from './create-run.ts';
import { considerPartitions, queueForPartitions } from './asset-partitions.ts';
import type { Considered } from './asset-partitions.ts';
import { isTransient } from './timetable-runs.ts';

/**
 * Records the events in the transaction that ends the task. If a DAG waits for the assets, the scheduler is due at
 * once.
 */
export const recordAssetEvents: RecordAssetEvents = async (trx, source, events) => {
  const assetIds = await resolveAssets(
    trx,
    source.tenantId,
    events.map((event) => event.asset),
  );
  const made = events.flatMap(({ alias, extra, partitionKeys = [source.partitionKey ?? null] }, index) =>
    partitionKeys.map((partitionKey) => ({
      assetId: assetIds[index] ?? 0,
      alias: alias ?? null,
      extra: extra ?? {},
      partitionKey,
    })),
  );
  const eventIds = await insertEvents(trx, source.tenantId, {
    source,
    events: made,
  });
  const keys = made.map(({ partitionKey }) => partitionKey);
  const consumers = await queueEvents(trx, source.tenantId, { eventIds, keys });
  return { effects: consumers.length === 0 ? [] : [{ ...noEffects(), dueAt: nowIso() }] };
};

/** Records events that watchers of the assets have seen. */
export type RecordWatchedAssets = (
  trx: SharedDb,
  tenantId: string,
  events: readonly { asset: { name: string; uri: string }; extra: Record<string, unknown> }[],
) => Promise<void>;

export const recordWatchedAssets: RecordWatchedAssets = async (trx, tenantId, events) => {
  if (events.length === 0) return;
  const assetIds = await resolveAssets(
    trx,
    tenantId,
    events.map(({ asset }) => asset),
  );
  const eventIds = await insertEvents(trx, tenantId, {
    source: null,
    events: events.map(({ extra }, index) => ({
      assetId: assetIds[index] ?? 0,
      alias: null,
      extra,
      partitionKey: null,
    })),
  });
  await queueForConsumers(trx, tenantId, eventIds);
};

/** Records an event that no task caused: a person or program says that the asset has changed. */
export async function recordExternalEvent(
  trx: SharedDb,
  tenantId: string,
  input: { assetId: number; extra: Record<string, unknown>; partitionKey: string | null },
): Promise<{ eventId: number; consumers: string[] }> {
  const { assetId, extra, partitionKey } = input;
  const [eventId = 0] = await insertEvents(trx, tenantId, {
    source: null,
    events: [{ assetId, alias: null, extra, partitionKey }],
  });
  return { eventId, consumers: await queueEvents(trx, tenantId, { eventIds: [eventId], keys: [partitionKey] }) };
}

/** An event with a partition key is only for DAGs that wait by partition. `keys` are those of the events, in their order. */
async function queueEvents(
  trx: SharedDb,
  tenantId: string,
  { eventIds, keys }: { eventIds: readonly number[]; keys: readonly (string | null)[] },
): Promise<string[]> {
  const partitioned = new Map(
    eventIds.flatMap((id, index) => {
      const key = keys[index] ?? null;
      return key === null ? [] : [[id, key] as const];
    }),
  );
  const others = eventIds.filter((id) => !partitioned.has(id));
  return [
    ...(others.length > 0 ? await queueForConsumers(trx, tenantId, others) : []),
    ...(partitioned.size > 0 ? await queueForPartitions(trx, tenantId, partitioned) : []),
  ];
}

export type AssetRuns = {
  /** Creates the runs of these DAGs whose conditions hold. */
  consider(keys: readonly DagKey[]): Promise<{ created: number }>;
  /** Does the same for every DAG with events that were not considered; for the tick. */
  considerAll(): Promise<{ created: number }>;
};

type Log = { error(details: Coded, message: string): void };

const DAGS_PER_TICK = 200;

export function createAssetRuns(options: {
  db: Database;
  createRun: CreateRun;
  /** Called after the commit of each transaction that created a run. */
  onEffects(effects: RunEffects): void;
  log: Log;
}): AssetRuns {
  const { db, createRun, onEffects, log } = options;

  /** Returns how many runs were created. */
  async function considerSafely(key: DagKey): Promise<number> {
    try {
      const { created, effects } = await db.shared.transaction().execute((trx) => considerOne(trx, key, createRun));
      effects.forEach(onEffects);
      return created;
    } catch (error) {
      if (isOutage(error)) throw error;
      if (isTransient(error)) return 0; // the tick tries again
      log.error(
        { code: 'SVC2008', err: error, dag_id: key.dagId, tenant: key.tenantId },
        'a run that assets caused could not be created: tried again with the next event',
      );
      await markConsidered(db.shared, key);
      return 0;
    }
  }

  async function consider(keys: readonly DagKey[]): Promise<{ created: number }> {
    let created = 0;
    for (const key of keys) created += await considerSafely(key);
    return { created };
  }

  return {
    consider,
    considerAll: async () => consider(await findUnconsidered(db.shared, DAGS_PER_TICK)),
  };
}

const NOTHING: Considered = { created: 0, effects: [] };

async function considerOne(trx: SharedDb, key: DagKey, createRun: CreateRun): Promise<Considered> {
  const dag = await lockConsumer(trx, key);
  if (!dag) return NOTHING;
  if (dag.timetable.type === 'partitioned_asset') {
    return considerPartitions(trx, key, { timetable: dag.timetable, maxActiveRuns: dag.max_active_runs, createRun });
  }
  const waiting = await queuedAssets(trx, key);
  const condition = 'assets' in dag.timetable ? dag.timetable.assets : null;
  const leaves = condition ? leavesOf(condition) : [];
  const present = waiting.filter((asset) => leaves.some((leaf) => refersTo(leaf, asset)));
  const gone = waiting.filter((asset) => !present.includes(asset));
  await dropQueued(
    trx,
    key,
    gone.map((asset) => asset.assetId),
  );
  if (condition === null || present.length === 0 || !holds(condition, present)) {
    await markConsidered(trx, key);
    return NOTHING;
  }
  // At the limit the events wait, and the next run takes all of them.
  if ((await countLiveRuns(trx, key)) >= dag.max_active_runs) return NOTHING;

  const result = await createRun(trx, key.tenantId, assetTriggeredRun(key.dagId));
  if (result.kind === 'created') {
    await assignQueueToRun(trx, key, result.run.id);
    return { created: 1, effects: [result.effects] };
  }
  if (result.kind === 'invalid_conf') throw new Error(`params without a usable default: ${result.problems.join('; ')}`);
  await markConsidered(trx, key); // the author does not allow such runs
  return NOTHING;
}
