/**
 * May a task run, judged by its direct upstream instances? A verdict is given as soon as it is certain, so `all_success`
 * with one failure is `upstream_failed` although others still run.
 *
 * Where skips and failures meet, whichever arrives first decides (as in Airflow): `all_success` with a skip first is
 * skipped, with a failure first upstream_failed, with both at once upstream_failed.
 *
 * Removed upstream instances are as good as absent: a mapped task that shrank must not block what follows it.
 */
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';
import type { UpstreamCounts } from './types.ts';

export type Verdict = 'wait' | 'run' | 'skipped' | 'upstream_failed';

export function decide(rule: TriggerRule, counts: UpstreamCounts): Verdict {
  const { success, skipped } = counts;
  const total = counts.total - counts.removed;
  // Nothing to judge by: a root.
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

/** Everything upstream is finished: is there anything to tear down? */
function setupVerdict({ setupTotal, setupSkipped, setupSuccess }: UpstreamCounts): Verdict {
  if (setupTotal === 0 || setupSuccess > 0) return 'run';
  return setupSkipped >= setupTotal ? 'skipped' : 'upstream_failed';
}
