/** What the run of a partition waits for: an event of each asset, or with a rollup, the events of a whole window. */
import { expectedKeys, partitionDateOf } from '@svc/spec/timetables/partition-mappers.ts';
import type { PartitionMapper } from '@svc/spec/timetables/partition-mappers.ts';
import { enoughOf, isEnough } from '@svc/spec/timetables/partition-windows.ts';
import { instantToIso } from '@svc/spec/timetables/instant.ts';
import type { PartitionedAssetTimetable } from '@svc/spec/timetables/schema.ts';
import { leavesOf, refersTo } from './asset-condition.ts';
import type { PresentAsset } from './asset-condition.ts';

/** Returns the place of the mapper; -1 is the default one. */
export const placeOf = ({ mappers }: PartitionedAssetTimetable, asset: PresentAsset): number =>
  mappers.findIndex(({ asset: named }) => leavesOf(named).some((leaf) => refersTo(leaf, asset)));

export const mapperAt = (timetable: PartitionedAssetTimetable, place: number) =>
  timetable.mappers[place]?.mapper ?? timetable.default_mapper;

export const mapperOf = (timetable: PartitionedAssetTimetable, asset: PresentAsset) =>
  mapperAt(timetable, placeOf(timetable, asset));

export const hasRollup = ({ mappers, default_mapper: other }: PartitionedAssetTimetable): boolean =>
  [...mappers.map(({ mapper }) => mapper), other].some(({ mapper }) => mapper === 'rollup');

/** `keys` are those of the events that have arrived. */
export type ArrivedAsset = PresentAsset & { keys: readonly string[] };

export type WaitOfAsset = {
  isRollup: boolean;
  isSatisfied: boolean;
  received: readonly string[];
  required: readonly string[];
  /** How many keys are enough. */
  count: number;
  /** The rollup cannot read the key of its run. */
  problem: string | null;
};

/** Returns what the run of the key needs of an asset, and what has arrived. */
export function waitOf(timetable: PartitionedAssetTimetable, runKey: string, asset: ArrivedAsset): WaitOfAsset {
  const mapper = mapperOf(timetable, asset);
  if (mapper.mapper !== 'rollup') {
    const isSatisfied = asset.keys.length > 0;
    const received = isSatisfied ? [runKey] : [];
    return { isRollup: false, isSatisfied, received, required: [runKey], count: 1, problem: null };
  }
  const expected = expectedKeys(mapper, runKey);
  if (!expected.ok) {
    const nothing = { received: [...asset.keys], required: [], count: 0 };
    return { isRollup: true, isSatisfied: false, ...nothing, problem: expected.problem };
  }
  const wanted = new Set(expected.keys);
  const received = asset.keys.filter((key) => wanted.has(key));
  const sizes = { received: received.length, expected: wanted.size };
  const { wait_policy: policy } = mapper;
  return {
    isRollup: true,
    isSatisfied: isEnough(policy, sizes),
    received,
    required: expected.keys,
    count: enoughOf(policy, wanted.size),
    problem: null,
  };
}

/** Returns the date of the run of a key, if a mapper of its assets makes keys of dates. */
export function dateOfPartition(
  timetable: PartitionedAssetTimetable,
  runKey: string,
  assets: readonly PresentAsset[],
): string | null {
  for (const asset of assets) {
    const mapper = mapperOf(timetable, asset);
    const date = mapper.mapper === 'custom' ? null : partitionDateOf(mapper satisfies PartitionMapper, runKey);
    if (date !== null) return instantToIso(date);
  }
  return null;
}
