/**
 * An agent that was asked to stop tells how its attempts ended, and leaves. When no control plane takes the report it leaves
 * all the same: whoever asked has only so much patience (30 s for a pod), and then kills it in the middle of something.
 */

/** The time a task has for its last words (5 s, attempt.ts), and then some of trying. */
const GRACE_MS = 15_000;
const GRACE_VARIABLE = 'SVC_AGENT_STOP_GRACE_MS';

/** Calls `onLost` when the process is still there so long after `stop`. */
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
      say(`asked to stop ${graceMs / 1_000} s ago, and no control plane has taken the report: leaving without`);
      onLost();
    }, graceMs);
  };
  if (stop.aborted) begin();
  else stop.addEventListener('abort', begin, { once: true });
}
