// Keys of the reference that this version does not implement yet. The start of a server and `svc config --check` refuse
// them, because a key that is accepted must do what it says. An entry is removed when its feature is added.
// honoured-keys.test.ts fails for a key that neither the code reads nor this table contains, and for a key of both.

import type { BootProblem } from './boot-report.ts';
import type { ConfigValue } from './key-definition.ts';
import { configKeys, configPathOf, flagOf, variableOf } from './keys.ts';
import type { Config, ConfigKey } from './keys.ts';
import { defaultValueOf } from './load.ts';

export interface NotBuilt {
  /** Completes the sentence "… is set, but …". */
  readonly words: string;
  /**
   * Only these values are refused; the code implements the others. Without it, all values except the default are
   * refused.
   */
  readonly values?: readonly string[];
}

export const NOT_BUILT: Readonly<Partial<Record<ConfigKey, NotBuilt>>> = {};

/** The message omits the value, because some of these keys are secrets. */
export function checkNotBuilt(config: Config, table: typeof NOT_BUILT = NOT_BUILT): BootProblem[] {
  return configKeys.flatMap((key) => {
    const entry = table[key];
    if (!entry || !isRefused(valueAt(config, key), key, entry)) return [];
    const message = `${key} (${variableOf(key)}, ${flagOf(key)}) is set, but ${entry.words}; unset it`;
    return [{ key, message }];
  });
}

function isRefused(value: ConfigValue, key: ConfigKey, { values }: NotBuilt): boolean {
  if (values) return values.includes(String(value));
  return JSON.stringify(value) !== JSON.stringify(defaultValueOf(key));
}

function valueAt(config: Config, key: ConfigKey): ConfigValue {
  let found: unknown = config;
  for (const part of configPathOf(key)) found = (found as Record<string, unknown>)[part];
  return found as ConfigValue;
}
