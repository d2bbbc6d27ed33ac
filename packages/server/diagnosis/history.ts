/** Compares a run and its failures with earlier runs of the DAG. It is pure. */
import type { EarlierInstance, EarlierRun } from '../db/diagnosis/run-history.ts';
import type { ListedRun } from '../db/dag-runs/dag-runs.ts';
import type { ListedInstance } from '../db/task-instances/task-instances.ts';
import { fingerprintOf } from './cause.ts';
import type { AuthoredVersion, FailureHistory, RunHistory } from './types.ts';

/** `before` contains earlier runs, newest first. */
export function runHistoryOf(run: ListedRun, before: readonly EarlierRun[], newestVersion: number | null): RunHistory {
  const [previous] = before;
  const finished = before.filter(({ state }) => state === 'success' || state === 'failed');
  const good = finished.findIndex(({ state }) => state === 'success');
  const success = finished[good];
  return {
    previous_run: previous
      ? {
          run_id: previous.run_id,
          state: previous.state,
          version_number: previous.version_number,
          run_after: previous.run_after,
        }
      : null,
    failed_before: good === -1 ? finished.length : good,
    runs_compared: before.length,
    last_success: success ? { run_id: success.run_id, run_after: success.run_after } : null,
    version_changed: previous !== undefined && previous.version_number !== run.version_number,
    newest_version: newestVersion,
  };
}

type Compared = {
  instance: ListedInstance;
  run: Pick<ListedRun, 'run_id' | 'run_after'>;
  /** Newest first. */
  before: readonly EarlierRun[];
  /** The same instance in these runs, by run. */
  same: ReadonlyMap<number, EarlierInstance>;
  versionOf: (number: number) => AuthoredVersion | null;
};

export function failureHistoryOf({ instance, run, before, same, versionOf }: Compared): FailureHistory {
  const pairs = before.flatMap((earlier) => {
    const found = same.get(earlier.id);
    return found ? [{ earlier, found }] : [];
  });
  const ended = pairs.filter(({ found }) => found.state === 'success' || found.state === 'failed');
  const good = ended.findIndex(({ found }) => found.state === 'success');
  const streak = good === -1 ? ended : ended.slice(0, good);
  const oldest = streak.at(-1);
  const success = ended[good];
  const firstVersion = oldest?.found.version_number ?? instance.version_number;
  const mine = fingerprintOf(instance);
  return {
    runs_compared: pairs.length,
    failed_before: streak.length,
    first_failure: {
      run_id: oldest?.earlier.run_id ?? run.run_id,
      run_after: oldest?.earlier.run_after ?? run.run_after,
      version: versionOf(firstVersion),
    },
    last_success: success
      ? {
          run_id: success.earlier.run_id,
          run_after: success.earlier.run_after,
          version_number: success.found.version_number,
        }
      : null,
    since_version: success && success.found.version_number !== firstVersion ? firstVersion : null,
    same_cause_in: pairs
      .filter(({ found }) => found.state === 'failed' && fingerprintOf(found) === mine)
      .map(({ earlier }) => earlier.run_id),
  };
}
