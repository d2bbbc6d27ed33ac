import { EXIT } from './cli-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignal = {
  /** Resolves at the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
  readonly isRequested: () => boolean;
  /** Back to the default behaviour of signals. */
  dispose(): void;
};

/**
 * The first signal asks for an orderly stop; who sends a second one does not want to wait, and the process ends at once
 * after `onForce`, which must not wait either.
 */
export function listenForStop(options: { onForce?: () => void } = {}): StopSignal {
  let received = 0;
  const { promise: requested, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const onSignal = (signal: NodeJS.Signals): void => {
    received += 1;
    if (received === 1) {
      resolve(signal);
      return;
    }
    options.onForce?.();
    process.exit(EXIT.interrupted);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    requested,
    isRequested: () => received > 0,
    dispose() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** An error nobody caught leaves the process in an unknown state: say so and end, before it does more harm. */
export function endOnUncaught(die: (error: unknown, kind: string) => void): void {
  process.on('uncaughtException', (error) => {
    die(error, 'uncaught exception');
    process.exit(EXIT.failed);
  });
  process.on('unhandledRejection', (reason) => {
    die(reason, 'unhandled rejection');
    process.exit(EXIT.failed);
  });
}
