import { CliError, EXIT } from '../cli-error.ts';

/** A control plane is updated in less. Its runs go on meanwhile or wait for it, so giving up early would be wrong. */
const OUTAGE_LIMIT_MS = 180_000;

export type Patience = {
  answered(): void;
  /** The error, when it is worth another attempt; throws it when not. */
  orThrow(error: unknown): CliError;
};

/** For commands that stay while a control plane goes away and comes back. */
export function createPatience(): Patience {
  let answeredAt = performance.now();
  return {
    answered() {
      answeredAt = performance.now();
    },
    orThrow(error) {
      const isOutage = error instanceof CliError && error.exitCode === EXIT.unreachable;
      if (!isOutage || performance.now() - answeredAt > OUTAGE_LIMIT_MS) throw error;
      return error;
    },
  };
}
