import { badValue, unknownName } from './config-error.ts';
import type { ConfigProblem } from './config-error.ts';
import { definitionOf, flagOf, isConfigKey } from './keys.ts';
import type { ConfigKey } from './keys.ts';
import { maskText } from './mask.ts';
import { nearestFlag } from './nearest.ts';
import type { Setting, SourceReading } from './sources.ts';

/** Flags by name, with or without the two dashes, with dashes or underscores. A repeated flag has several values. */
export type Flags = Readonly<Record<string, string | readonly string[]>>;

export function readFlags(flags: Flags): SourceReading {
  const problems: ConfigProblem[] = [];
  const given = new Map<ConfigKey, string[]>();
  for (const [flag, value] of Object.entries(flags)) {
    const key = keyOfFlag(flag);
    if (key === undefined) {
      const origin = flag.startsWith('--') ? flag : `--${flag}`;
      problems.push(unknownName({ key: flag, nearest: nearestFlag(normalize(flag)), origin }));
    } else {
      // Both spellings of a flag count as the same flag, given twice.
      given.set(key, [...(given.get(key) ?? []), ...(typeof value === 'string' ? [value] : value)]);
    }
  }
  const settings: Setting[] = [];
  for (const [key, values] of given) {
    const setting = settingOf(key, values);
    if ('raw' in setting) {
      settings.push(setting);
    } else {
      problems.push(setting);
    }
  }
  return { settings, problems, warnings: [] };
}

export function keyOfFlag(flag: string): ConfigKey | undefined {
  const name = normalize(flag);
  return isConfigKey(name) ? name : undefined;
}

function normalize(flag: string): string {
  return flag.replace(/^--/, '').replaceAll('-', '_');
}

function settingOf(key: ConfigKey, values: readonly string[]): Setting | ConfigProblem {
  const definition = definitionOf(key);
  const origin = flagOf(key);
  if (definition.type === 'list') {
    return { key, raw: { kind: 'list', items: values.flatMap((value) => value.split(',')) }, source: 'flag', origin };
  }
  if (definition.type === 'map') {
    return mapSetting(key, values);
  }
  const [text] = values;
  if (text === undefined || values.length > 1) {
    const shown = values.map((value) => maskText(definition, value)).join(' ');
    return badValue({ key, value: shown, allowed: `one value, but ${values.length} were given`, origin });
  }
  return { key, raw: { kind: 'text', text }, source: 'flag', origin };
}

/**
 * Splits at the last `=`, because group names of directories look like `CN=Data,OU=Teams`. Names of roles and tenants
 * contain no `=`.
 */
function mapSetting(key: ConfigKey, values: readonly string[]): Setting | ConfigProblem {
  const origin = flagOf(key);
  const pairs: [string, string][] = [];
  for (const value of values.filter((text) => text.trim() !== '')) {
    const split = value.lastIndexOf('=');
    if (split < 1) {
      return badValue({ key, value, allowed: 'name=value, the flag repeated for further pairs', origin });
    }
    const name = value.slice(0, split).trim();
    if (pairs.some(([other]) => other === name)) {
      return badValue({ key, value, allowed: 'each name once', origin });
    }
    pairs.push([name, value.slice(split + 1)]);
  }
  return { key, raw: { kind: 'map', pairs }, source: 'flag', origin };
}
