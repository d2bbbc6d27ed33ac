/**
 * From what happened to an asset to the runs that wait for it, in two steps:
 *
 *   record     with whatever made the event (a task's finish, a call): the event, and a row in the queue of each DAG whose
 *              schedule names the asset. Inserts only: it takes no lock that somebody else may be waiting for.
 *   consider   after that commit, per DAG under the lock of its row: does the condition hold? Then a run is created, and
 *              all that waited becomes its cause.
 *
 * Of two tasks that finish at the same moment, the one whose DAGs are considered last sees the events of both. A process that
 * dies between the steps leaves rows that nobody has considered; the tick finds them.
 */
import { instantFromIso } from '@svc/spec/timetables/instant.ts';
import { runIdFor } from '@svc/spec/timetables/run-id.ts';
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
import { noEffects } from '../advance/apply-to-runs.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import { holds, leavesOf, refersTo } from './asset-condition.ts';
import type { RecordAssetEvents } from '../advance/attempt-outputs.ts';
import { nowIso } from '@svc/spec/clock.ts';
import type { CreateRun } from './create-run.ts';
import { isTransient } from './timetable-runs.ts';

/** As part of the transaction that ends the task. When somebody waits for the assets, the scheduler is due at once. */
export const recordAssetEvents: RecordAssetEvents = async (trx, source, events) => {
  const assetIds = await resolveAssets(
    trx,
    source.tenantId,
    events.map((event) => event.asset),
  );
  const eventIds = await insertEvents(trx, source.tenantId, {
    source,
    events: events.map(({ alias, extra }, index) => ({
      assetId: assetIds[index] ?? 0,
      alias: alias ?? null,
      extra: extra ?? {},
    })),
  });
  const consumers = await queueForConsumers(trx, source.tenantId, eventIds);
  return { effects: consumers.length === 0 ? [] : [{ ...noEffects(), dueAt: nowIso() }] };
};

/** An event that no task made: somebody says that the asset has changed. */
export async function recordExternalEvent(
  trx: SharedDb,
  tenantId: string,
  input: { assetId: number; extra: Record<string, unknown>; partitionKey: string | null },
): Promise<{ eventId: number; consumers: string[] }> {
  const { assetId, extra, partitionKey } = input;
  const [eventId = 0] = await insertEvents(trx, tenantId, {
    source: null,
    partitionKey,
    events: [{ assetId, alias: null, extra }],
  });
  return { eventId, consumers: await queueForConsumers(trx, tenantId, [eventId]) };
}

export type AssetRuns = {
  /** Creates the runs of these DAGs whose conditions hold. */
  consider(keys: readonly DagKey[]): Promise<{ created: number }>;
  /** The same for every DAG with events that nobody has considered; for the tick. */
  considerAll(): Promise<{ created: number }>;
};

type Log = { error(details: object, message: string): void };

const DAGS_PER_TICK = 200;

export function createAssetRuns(options: {
  db: Database;
  createRun: CreateRun;
  /** Told after the commit of each transaction that made a run. */
  onEffects(effects: RunEffects): void;
  log: Log;
}): AssetRuns {
  const { db, createRun, onEffects, log } = options;

  async function considerSafely(key: DagKey): Promise<boolean> {
    try {
      const effects = await db.shared.transaction().execute((trx) => considerOne(trx, key, createRun));
      if (effects) onEffects(effects);
      return effects !== null;
    } catch (error) {
      if (isOutage(error)) throw error;
      if (isTransient(error)) return false; // the tick tries again
      log.error(
        { err: error, dag_id: key.dagId, tenant: key.tenantId },
        'a run that assets caused could not be created: tried again with the next event',
      );
      await markConsidered(db.shared, key);
      return false;
    }
  }

  async function consider(keys: readonly DagKey[]): Promise<{ created: number }> {
    let created = 0;
    for (const key of keys) if (await considerSafely(key)) created += 1;
    return { created };
  }

  return {
    consider,
    considerAll: async () => consider(await findUnconsidered(db.shared, DAGS_PER_TICK)),
  };
}

/** What follows from the run that was created; null when there is none. */
async function considerOne(trx: SharedDb, key: DagKey, createRun: CreateRun): Promise<RunEffects | null> {
  const dag = await lockConsumer(trx, key);
  if (!dag) return null;
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
    return null;
  }
  // At the limit the events wait, and the run that comes then takes all of them.
  if ((await countLiveRuns(trx, key)) >= dag.max_active_runs) return null;

  const result = await createRun(trx, key.tenantId, assetTriggeredRun(key.dagId));
  if (result.kind === 'created') {
    await assignQueueToRun(trx, key, result.run.id);
    return result.effects;
  }
  if (result.kind === 'invalid_conf') throw new Error(`params without a usable default: ${result.problems.join('; ')}`);
  await markConsidered(trx, key); // its author allows no such runs
  return null;
}

function assetTriggeredRun(dagId: string) {
  const runAfter = nowIso();
  const at = instantFromIso(runAfter);
  if (at === null) throw new Error('unreachable: now is a moment');
  // As Airflow: such a run stands for no date, so that nothing but chance keeps two of one microsecond apart.
  const suffix = crypto.randomUUID().replaceAll('-', '').slice(0, 8);
  return {
    dagId,
    runId: `${runIdFor({ runType: 'asset_triggered', runAfter: at })}_${suffix}`,
    runType: 'asset_triggered' as const,
    logicalDate: null,
    dataInterval: null,
    runAfter,
    triggeredBy: 'asset',
  };
}
