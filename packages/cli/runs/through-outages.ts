import { retry } from '@svc/client/retry.ts';
import { CliError, EXIT } from '../cli-error.ts';

/**
 * Longer than the update of a control plane. Its runs continue or wait in that time, so giving up early would be wrong.
 */
const OUTAGE_LIMIT_MS = 180_000;

const isOutage = (error: unknown): error is CliError =>
  error instanceof CliError && error.exitCode === EXIT.unreachable;

/** Retries until the control plane answers, for commands that outlive its restart. */
export function throughOutages<T>(
  work: () => Promise<T>,
  options: {
    /** Returns the pause until the next try, after a try that took this long. */
    readonly pauseMs: (tookMs: number) => number;
    readonly onOutage?: ((error: CliError) => void) | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<T> {
  const { pauseMs, onOutage, signal } = options;
  return retry(work, {
    isPassing: isOutage,
    pauseMs: ({ elapsedMs, tookMs }) => (elapsedMs > OUTAGE_LIMIT_MS ? undefined : pauseMs(tookMs)),
    onRetry: (error) => {
      if (isOutage(error)) onOutage?.(error);
    },
    signal,
  });
}
