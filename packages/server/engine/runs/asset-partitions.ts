/**
 * DAGs that wait for assets by partition: each event is for the run of one key, which the DAG's mapper makes from the event's.
 * A run is created for a key when the condition holds for the assets that have events of that key.
 */
import { mapKey } from '@svc/spec/timetables/partition-mappers.ts';
import type { PartitionedAssetTimetable } from '@svc/spec/timetables/schema.ts';
import type { SharedDb } from '../../db/database.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import { markConsidered } from '../sql/asset-events.ts';
import {
  assignPartitionToRun,
  dropUnpartitioned,
  findPartitionConsumers,
  notePartitionProblem,
  queuePartitionEvents,
  waitingPartitions,
} from '../sql/asset-partitions.ts';
import type { QueuedPartitionEvent } from '../sql/asset-partitions.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { countLiveRuns } from '../sql/due-dags.ts';
import { holds, leavesOf, refersTo } from './asset-condition.ts';
import type { PresentAsset } from './asset-condition.ts';
import { assetTriggeredRun } from './asset-triggered-run.ts';
import type { CreateRun } from './create-run.ts';

/** Ids of the DAGs that have something to consider now. */
export async function queueForPartitions(
  trx: SharedDb,
  tenantId: string,
  { eventIds, partitionKey }: { eventIds: readonly number[]; partitionKey: string },
): Promise<string[]> {
  const queued: QueuedPartitionEvent[] = [];
  for (const consumer of await findPartitionConsumers(trx, tenantId, eventIds)) {
    const { dagId, eventId, assetId } = consumer;
    const mapped = mapKey(mapperFor(consumer.timetable, consumer), partitionKey);
    if (mapped.ok) queued.push({ dagId, eventId, assetId, partitionKey: mapped.key });
    else {
      const problem = `an event of asset "${consumer.name}" starts no run: ${mapped.problem}`;
      await notePartitionProblem(trx, { tenantId, dagId }, problem);
    }
  }
  await queuePartitionEvents(trx, tenantId, queued);
  return [...new Set(queued.map(({ dagId }) => dagId))];
}

const mapperFor = ({ mappers, default_mapper: otherwise }: PartitionedAssetTimetable, asset: PresentAsset) =>
  mappers.find(({ asset: named }) => leavesOf(named).some((leaf) => refersTo(leaf, asset)))?.mapper ?? otherwise;

/** What follows from each of the runs that were created. */
export async function considerPartitions(
  trx: SharedDb,
  key: DagKey,
  input: { timetable: PartitionedAssetTimetable; maxActiveRuns: number; createRun: CreateRun },
): Promise<RunEffects[]> {
  const { timetable, maxActiveRuns, createRun } = input;
  await dropUnpartitioned(trx, key);
  const complete = (await waitingPartitions(trx, key)).filter(({ assets }) => holds(timetable.assets, assets));
  let room = maxActiveRuns - (await countLiveRuns(trx, key));
  const effects: RunEffects[] = [];
  for (const { partitionKey } of complete) {
    // At the limit the others wait for the end of a run.
    if (room <= 0) return effects;
    const result = await createRun(trx, key.tenantId, { ...assetTriggeredRun(key.dagId), partitionKey });
    if (result.kind === 'invalid_conf') {
      throw new Error(`params without a usable default: ${result.problems.join('; ')}`);
    }
    if (result.kind !== 'created') break; // its author allows no such runs
    await assignPartitionToRun(trx, key, { partitionKey, run: result.run.id });
    effects.push(result.effects);
    room -= 1;
  }
  await markConsidered(trx, key);
  return effects;
}
