import { retry } from '@svc/client/retry.ts';
import { CliError, EXIT } from '../cli-error.ts';

/** A control plane is updated in less. Its runs go on meanwhile or wait for it, so giving up early would be wrong. */
const OUTAGE_LIMIT_MS = 180_000;

const isOutage = (error: unknown): error is CliError =>
  error instanceof CliError && error.exitCode === EXIT.unreachable;

/** For commands that stay while a control plane goes away and comes back: asks again until it answers. */
export function throughOutages<T>(
  work: () => Promise<T>,
  options: {
    /** Until the next try, after one that took so long. */
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
