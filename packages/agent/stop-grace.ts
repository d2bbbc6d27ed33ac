/**
 * An agent that was asked to stop reports how its attempts ended, and leaves. If no control plane takes the reports, it
 * leaves anyway before it is killed: a pod has only 30 s.
 */
import { coded } from './coded.ts';

/** The time in which a task can end (5 s, attempt.ts), plus some time for the reports. */
const GRACE_MS = 15_000;
const GRACE_VARIABLE = 'SVC_AGENT_STOP_GRACE_MS';

/** Calls `onLost` when the process still exists this long after `stop`. */
export function giveUpAfterStop(input: {
  stop: AbortSignal;
  say: (text: string) => void;
  onLost: () => void;
  env?: Readonly<Record<string, string | undefined>>;
}): void {
  const { stop, say, onLost, env = process.env } = input;
  const graceMs = Number(env[GRACE_VARIABLE] ?? GRACE_MS);
  const begin = (): void => {
    setTimeout(() => {
      say(
        coded(
          'SVC8006',
          `asked to stop ${graceMs / 1_000} s ago, and no control plane has taken the report: leaving without`,
        ),
      );
      onLost();
    }, graceMs);
  };
  if (stop.aborted) begin();
  else stop.addEventListener('abort', begin, { once: true });
}
