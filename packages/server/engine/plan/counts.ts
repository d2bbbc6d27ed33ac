/** Creates and raises upstream counters. types.ts defines their meaning. */
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { UpstreamCounts } from './types.ts';

export const noCounts = (): UpstreamCounts => ({
  total: 0,
  success: 0,
  skipped: 0,
  failed: 0,
  upstreamFailed: 0,
  removed: 0,
  setupTotal: 0,
  setupSuccess: 0,
  setupFailed: 0,
  setupSkipped: 0,
  excluded: 0,
});

/** Adds `by` upstream instances to wait for. A negative number removes some. */
export function addUpstream(counts: UpstreamCounts, { isSetup, by }: { isSetup: boolean; by: number }): void {
  counts.total += by;
  if (isSetup) counts.setupTotal += by;
}

/** Counts one upstream instance that has finished. Unfinished states change nothing. */
export function addFinished(
  counts: UpstreamCounts,
  { state, isSetup }: { state: TaskStateOrNone; isSetup: boolean },
): void {
  switch (state) {
    case 'success':
      counts.success += 1;
      if (isSetup) counts.setupSuccess += 1;
      return;
    case 'skipped':
      counts.skipped += 1;
      if (isSetup) counts.setupSkipped += 1;
      return;
    case 'failed':
      counts.failed += 1;
      if (isSetup) counts.setupFailed += 1;
      return;
    case 'upstream_failed':
      counts.upstreamFailed += 1;
      if (isSetup) counts.setupFailed += 1;
      return;
    case 'removed':
      counts.removed += 1;
      // A removed setup leaves nothing to tear down, so it no longer counts as a setup.
      if (isSetup) counts.setupTotal -= 1;
      return;
    default:
      return;
  }
}
