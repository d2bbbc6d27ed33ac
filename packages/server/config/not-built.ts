// Keys of the reference that this version cannot honour yet. Whoever sets one is told so when the server starts and by
// `svc config --check`: a key that is accepted does what it says. An entry goes when its feature comes; the test beside
// this file (honoured-keys.test.ts) fails for a key that neither the code reads nor this table has, and for one of both.

import type { BootProblem } from './boot-report.ts';
import type { ConfigValue } from './key-definition.ts';
import { configKeys, configPathOf, flagOf, variableOf } from './keys.ts';
import type { Config, ConfigKey } from './keys.ts';
import { defaultValueOf } from './load.ts';

export interface NotBuilt {
  /** Completes the sentence "… is set, but …". */
  readonly words: string;
  /** Only these values are refused; the others are honoured, and so the code may read the key. Without it: all but the default. */
  readonly values?: readonly string[];
}

export const NOT_BUILT: Readonly<Partial<Record<ConfigKey, NotBuilt>>> = {};

/** The value itself is not said: some of these are secrets. */
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
