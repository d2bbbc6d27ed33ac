// Renders what `svc config` shows. All output of current values goes through this file, so masking cannot be forgotten.

import { formatDuration } from './duration.ts';
import type { ConfigValue } from './key-definition.ts';
import { definitionOf, variableOf } from './keys.ts';
import type { EffectiveValue } from './load.ts';
import { maskValue } from './mask.ts';
import type { Source } from './sources.ts';

export interface EffectiveRow {
  readonly key: string;
  readonly value: string;
  readonly source: Source;
  readonly origin: string;
}

/** Returns one row per key in table order, with all values as text. */
export function effectiveRows(entries: readonly EffectiveValue[]): EffectiveRow[] {
  return entries.map((entry) => ({
    key: entry.key,
    value: textOf(shown(entry)),
    source: entry.source,
    origin: entry.origin,
  }));
}

export interface EffectiveJson {
  readonly key: string;
  readonly variable: string;
  readonly value: ConfigValue;
  readonly source: Source;
  readonly origin: string;
  readonly edition: string;
}

/** For `svc config --json`: the same rows, with numbers, booleans, lists and maps as such. */
export function effectiveJson(entries: readonly EffectiveValue[]): EffectiveJson[] {
  return entries.map((entry) => ({
    key: entry.key,
    variable: variableOf(entry.key),
    value: shown(entry),
    source: entry.source,
    origin: entry.origin,
    edition: definitionOf(entry.key).edition,
  }));
}

/** Shows durations in the notation in which they are set. */
function shown(entry: EffectiveValue): ConfigValue {
  const definition = definitionOf(entry.key);
  return definition.type === 'duration' && typeof entry.value === 'number'
    ? formatDuration(entry.value)
    : maskValue(definition, entry.value);
}

function textOf(value: ConfigValue): string {
  if (typeof value !== 'object') {
    return String(value);
  }
  return isList(value)
    ? value.join(', ')
    : Object.entries(value)
        .map(([name, text]) => `${name}=${text}`)
        .join(', ');
}

function isList(value: ConfigValue): value is readonly string[] {
  return Array.isArray(value);
}
