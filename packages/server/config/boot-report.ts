import type { ConfigKey } from './keys.ts';

export interface BootProblem {
  /** The key to change first. */
  readonly key: ConfigKey;
  /** What is wrong and what to set. */
  readonly message: string;
}

export interface BootReport {
  /** Any of these stops the boot. */
  readonly errors: readonly BootProblem[];
  readonly warnings: readonly string[];
}
