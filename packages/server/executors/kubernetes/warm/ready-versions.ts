/**
 * Decides which DAG versions have ready workers, and which are unused. The current version of an unpaused DAG has as
 * many idle workers as its author asks for (`execution.warmth.min_idle`), or else `execution.min_idle_workers`.
 */
import type { VersionRef } from '../../../engine/shared/dag-graphs.ts';
import { versionKey } from '../../../engine/shared/dag-graphs.ts';
import type { TaskShapes } from './task-shapes.ts';
import type { WarmPools } from './warm-pools.ts';

/** `isCurrent`: the current version of an unpaused DAG. The others have unfinished runs. */
export type UsedVersion = VersionRef & { isCurrent: boolean };

/** Unknown versions that are read per call. */
const READ_AT_ONCE = 100;
const KEPT = 100_000;

export function createReadyVersions(input: {
  /** Returns current versions, and those of `others` that have unfinished runs. */
  findUsed: (others: readonly VersionRef[]) => Promise<readonly UsedVersion[]>;
  shapes: TaskShapes;
  pools: Pick<WarmPools, 'pools' | 'want' | 'plan'>;
  minIdle: number;
}): () => Promise<void> {
  const { shapes, pools } = input;
  /** The author's setting by version, undefined when there is none. */
  const asked = new Map<string, number | undefined>();

  async function wantedOf(ref: VersionRef): Promise<number> {
    const key = versionKey(ref);
    if (!asked.has(key)) {
      if (asked.size >= KEPT) asked.clear();
      asked.set(key, (await shapes.get(ref))?.minIdle);
    }
    return asked.get(key) ?? input.minIdle;
  }

  return async () => {
    const known = pools.pools();
    const used = await input.findUsed(known.map(({ identity }) => identity));
    const inUse = new Set(used.map(versionKey));
    for (const pool of known) {
      pool.isUnused = !inUse.has(versionKey(pool.identity));
      pool.minIdle = 0; // set again below
    }
    let unread = READ_AT_ONCE;
    for (const version of used) {
      if (!version.isCurrent || (!asked.has(versionKey(version)) && (unread -= 1) < 0)) continue;
      const minIdle = await wantedOf(version);
      if (minIdle === 0) continue;
      const main = (await shapes.get(version))?.main;
      if (main) pools.want({ ...version, shape: main.shape }, main.task, minIdle);
    }
    pools.plan();
  };
}
