/**
 * Decides whether a task may run, from its direct upstream instances. It decides as soon as the verdict is certain:
 * `all_success` with one failure is `upstream_failed` even while other instances run.
 *
 * Where skips and failures meet, the first one decides, as in Airflow. `all_success` is skipped after a skip,
 * upstream_failed after a failure, and upstream_failed after both at once.
 *
 * Removed upstream instances do not count: a mapped task that shrank must not block the tasks after it.
 */
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';
import type { UpstreamCounts } from './types.ts';

export type Verdict = 'wait' | 'run' | 'skipped' | 'upstream_failed';

export function decide(rule: TriggerRule, counts: UpstreamCounts): Verdict {
  const { success, skipped } = counts;
  const total = counts.total - counts.removed;
  // A root has no upstream.
  if (counts.total === 0) return 'run';
  const failed = counts.failed + counts.upstreamFailed;
  const done = success + skipped + failed >= total;
  switch (rule) {
    case 'all_success':
      if (failed > 0) return 'upstream_failed';
      if (skipped > 0) return 'skipped';
      return done ? 'run' : 'wait';
    case 'all_failed':
      if (success > 0 || skipped > 0) return 'skipped';
      return done ? 'run' : 'wait';
    case 'all_done':
      return done ? 'run' : 'wait';
    case 'all_done_min_one_success':
      if (skipped > 0) return 'skipped';
      if (!done) return 'wait';
      return success > 0 ? 'run' : 'upstream_failed';
    case 'all_done_setup_success':
      return done ? setupVerdict(counts) : 'wait';
    case 'one_success':
      if (success > 0) return 'run';
      if (!done) return 'wait';
      return skipped === counts.total ? 'skipped' : 'upstream_failed';
    case 'one_failed':
      if (failed > 0) return 'run';
      return done ? 'skipped' : 'wait';
    case 'one_done':
      if (success > 0 || counts.failed > 0) return 'run';
      return done ? 'skipped' : 'wait';
    case 'none_failed':
      if (failed > 0) return 'upstream_failed';
      return done ? 'run' : 'wait';
    case 'none_failed_min_one_success':
      if (failed > 0) return 'upstream_failed';
      if (!done) return 'wait';
      return skipped > 0 && success === 0 ? 'skipped' : 'run';
    case 'none_skipped':
      if (skipped > 0) return 'skipped';
      return done ? 'run' : 'wait';
    case 'all_skipped':
      if (success > 0 || failed > 0) return 'skipped';
      return done ? 'run' : 'wait';
    case 'always':
      return 'run';
  }
}

/** Everything upstream has finished: decides whether there is anything to tear down. */
function setupVerdict({ setupTotal, setupSkipped, setupSuccess }: UpstreamCounts): Verdict {
  if (setupTotal === 0 || setupSuccess > 0) return 'run';
  return setupSkipped >= setupTotal ? 'skipped' : 'upstream_failed';
}
