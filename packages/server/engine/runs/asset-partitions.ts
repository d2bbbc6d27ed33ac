/**
 * DAGs that wait for assets by partition: each event belongs to the run of one key, which the DAG's mapper makes from
 * the key of the event. A run is created for a key when the condition holds for the assets with events of that key.
 *
 * If the DAG's own mapper does not know the key of an event yet, the event waits without a run key
 * (partition-key-questions.ts).
 */
import type { PartitionedAssetTimetable } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import { noEffects } from '../advance/run-effects.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { markConsidered } from '../sql/asset-events.ts';
import {
  assignPartitionToRun,
  dropUnmapped,
  dropUnpartitioned,
  findPartitionConsumers,
  findSourceDate,
  notePartitionProblem,
  queuePartitionEvents,
  unmappedEvents,
  waitingPartitions,
} from '../sql/asset-partitions.ts';
import type { QueuedPartitionEvent, WaitingAsset } from '../sql/asset-partitions.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { countLiveRuns } from '../sql/due-dags.ts';
import { holds } from './asset-condition.ts';
import { assetTriggeredRun } from './asset-triggered-run.ts';
import type { CreateRun } from './create-run.ts';
import { keysOf, wantAnswers } from './partition-key-questions.ts';
import { dateOfPartition, hasRollup, mapperOf, waitOf } from './partition-waits.ts';

/** Queues events by the keys that they have. Returns the ids of the DAGs that must be considered now. */
export async function queueForPartitions(
  trx: SharedDb,
  tenantId: string,
  keys: ReadonlyMap<number, string>,
): Promise<string[]> {
  const queued: QueuedPartitionEvent[] = [];
  for (const consumer of await findPartitionConsumers(trx, tenantId, [...keys.keys()])) {
    const { dagId, eventId, assetId } = consumer;
    const mapped = keysOf(consumer.timetable, consumer, keys.get(eventId) ?? '');
    if (mapped.kind === 'refused') await noteRefusal(trx, { tenantId, dagId }, consumer.name, mapped.problem);
    const ofRuns = mapped.kind === 'ask' ? [null] : mapped.kind === 'keys' ? mapped.keys : [];
    queued.push(...ofRuns.map((each) => ({ dagId, eventId, assetId, partitionKey: each })));
  }
  await queuePartitionEvents(trx, tenantId, queued);
  return [...new Set(queued.map(({ dagId }) => dagId))];
}

const noteRefusal = (trx: SharedDb, key: DagKey, asset: string, problem: string): Promise<void> =>
  notePartitionProblem(trx, key, `an event of asset "${asset}" starts no run: ${problem}`);

const UNMAPPED_AT_ONCE = 1_000;

/** Gives run keys to events that waited for an answer of the DAG's own mapper, as far as it has answered. */
async function mapWaiting(
  trx: SharedDb,
  key: DagKey,
  timetable: PartitionedAssetTimetable,
): Promise<{ asks: boolean }> {
  for (;;) {
    const waiting = await unmappedEvents(trx, key, UNMAPPED_AT_ONCE);
    const done: number[] = [];
    const queued: QueuedPartitionEvent[] = [];
    for (const event of waiting) {
      const { eventId, assetId } = event;
      const mapped = keysOf(timetable, event, event.key);
      if (mapped.kind === 'ask') continue;
      done.push(eventId);
      if (mapped.kind === 'refused') await noteRefusal(trx, key, event.name, mapped.problem);
      else queued.push(...mapped.keys.map((partitionKey) => ({ dagId: key.dagId, eventId, assetId, partitionKey })));
    }
    await dropUnmapped(trx, key, done);
    await queuePartitionEvents(trx, key.tenantId, queued);
    if (done.length < waiting.length || waiting.length < UNMAPPED_AT_ONCE)
      return { asks: done.length < waiting.length };
  }
}

/** A run whose key is that of its events has the date of the run that caused them. */
async function carriedDate(
  trx: SharedDb,
  key: DagKey,
  waiting: { timetable: PartitionedAssetTimetable; partitionKey: string; assets: readonly WaitingAsset[] },
): Promise<string | null> {
  const { timetable, partitionKey, assets } = waiting;
  const isCarried = assets.some((asset) => mapperOf(timetable, asset).mapper === 'identity');
  return isCarried ? findSourceDate(trx, key, partitionKey) : null;
}

export type Considered = { created: number; effects: RunEffects[] };

/** Creates the runs whose partitions are complete. Returns their effects, and the effects of questions to ask. */
export async function considerPartitions(
  trx: SharedDb,
  key: DagKey,
  input: { timetable: PartitionedAssetTimetable; maxActiveRuns: number; createRun: CreateRun },
): Promise<Considered> {
  const { timetable, maxActiveRuns, createRun } = input;
  await dropUnpartitioned(trx, key);
  const { asks } = await mapWaiting(trx, key, timetable);
  const effects: RunEffects[] = asks ? [{ ...noEffects(), dueAt: await wantAnswers(trx, key) }] : [];
  const waiting = await waitingPartitions(trx, key, { withKeys: hasRollup(timetable) });
  const complete = waiting.filter(({ partitionKey, assets }) =>
    holds(
      timetable.assets,
      assets.filter((asset) => waitOf(timetable, partitionKey, asset).isSatisfied),
    ),
  );
  const room = maxActiveRuns - (await countLiveRuns(trx, key));
  let created = 0;
  for (const { partitionKey, assets } of complete) {
    // At the limit the other partitions wait for the end of a run.
    if (created >= room) return { created, effects };
    const partitionDate =
      dateOfPartition(timetable, partitionKey, assets) ??
      (await carriedDate(trx, key, { timetable, partitionKey, assets }));
    const run = { ...assetTriggeredRun(key.dagId), partitionKey, partitionDate };
    const result = await createRun(trx, key.tenantId, run);
    if (result.kind === 'invalid_conf') {
      throw new Error(`params without a usable default: ${result.problems.join('; ')}`);
    }
    if (result.kind !== 'created') break; // the author does not allow such runs
    await assignPartitionToRun(trx, key, { partitionKey, run: result.run.id });
    effects.push(result.effects);
    created += 1;
  }
  await markConsidered(trx, key);
  return { created, effects };
}
