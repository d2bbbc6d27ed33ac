import { EXIT } from './cli-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type StopSignal = {
  /** Resolves at the first signal. */
  readonly requested: Promise<NodeJS.Signals>;
  readonly isRequested: () => boolean;
  /** Restores the default behaviour of signals. */
  dispose(): void;
};

/**
 * The first signal requests an orderly stop. A second signal ends the process at once, after `onForce`, which must be
 * synchronous.
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

/**
 * An uncaught error leaves the process in an unknown state. It is reported, and the process ends before it does more
 * harm.
 */
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
