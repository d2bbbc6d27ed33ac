import { readFileSync } from 'node:fs';
import { badValue, ConfigError, quote } from './config-error.ts';
import type { ConfigProblem } from './config-error.ts';
import type { ConfigValue, KeyDefinition } from './key-definition.ts';
import { configKeys, configPathOf, definitionOf, variableOf } from './keys.ts';
import type { Config, ConfigKey } from './keys.ts';
import { isSecret, maskText } from './mask.ts';
import { parseValue } from './parse-value.ts';
import type { RawValue } from './parse-value.ts';
import { CONFIG_FILE_VARIABLE, readEnvironment } from './read-environment.ts';
import type { Environment } from './read-environment.ts';
import { readYaml, wholeFile } from './read-file.ts';
import { readFlags } from './read-flags.ts';
import type { Flags } from './read-flags.ts';
import type { Setting, Source, SourceReading } from './sources.ts';

export type { Config, ConfigKey } from './keys.ts';
export { ConfigError } from './config-error.ts';

/** One key as it is in force. `value` is the real one: whoever prints it goes through render-effective.ts. */
export interface EffectiveValue {
  readonly key: ConfigKey;
  readonly value: ConfigValue;
  readonly source: Source;
  /** `server.yaml:3:5`, `SVC_SERVER_ROLE`, `--server.role` or `built-in`. */
  readonly origin: string;
}

export interface LoadOptions {
  /** Path of the YAML file (`--config`); without it the variable SVC_CONFIG is looked at. */
  readonly file?: string | undefined;
  readonly env: Environment;
  readonly flags?: Flags;
  readonly readFile?: (path: string) => string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly entries: readonly EffectiveValue[];
  readonly warnings: readonly string[];
}

/**
 * Defaults, overridden by the file, overridden by the environment, overridden by flags. Lists and maps are replaced
 * whole, never merged: what one reads in the strongest source is what is in force. Throws one `ConfigError` with
 * everything that is wrong. Whether the values fit together is the business of boot-checks.ts, so that `svc config`
 * can show a configuration that could not boot.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const readings = [readConfigFile(options), readEnvironment(options.env), readFlags(options.flags ?? {})];
  const problems: ConfigProblem[] = readings.flatMap((reading) => reading.problems);
  const warnings: string[] = readings.flatMap((reading) => reading.warnings);
  const effective = new Map<ConfigKey, EffectiveValue>(configKeys.map((key) => [key, defaultOf(key)]));
  // Weakest source first, so the last one to set a key wins. An overruled value is parsed too: a mistake in the file
  // is worth knowing before the day the variable that hides it goes away.
  for (const setting of readings.flatMap((reading) => reading.settings)) {
    const definition = definitionOf(setting.key);
    const { key, source, origin } = setting;
    const outcome = parseValue(definition, setting.raw);
    if (!outcome.ok) {
      problems.push(badValue({ key, value: shownValue(definition, setting.raw), allowed: outcome.allowed, origin }));
      continue;
    }
    if (outcome.warning !== undefined) {
      warnings.push(`${origin}: ${key} is ${quote(shownValue(definition, setting.raw))}; ${outcome.warning}`);
    }
    warnings.push(...exposureWarnings(setting, definition));
    effective.set(key, { key, value: outcome.value, source, origin });
  }
  if (problems.length > 0) {
    throw new ConfigError(problems);
  }
  const entries = [...effective.values()];
  return { config: buildConfig(entries), entries, warnings };
}

function readConfigFile(options: LoadOptions): SourceReading {
  const { env, readFile = (path: string) => readFileSync(path, 'utf8') } = options;
  const file = options.file ?? env[CONFIG_FILE_VARIABLE] ?? '';
  if (file === '') {
    return { settings: [], problems: [], warnings: [] };
  }
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const from = options.file === undefined ? CONFIG_FILE_VARIABLE : '--config';
    return { settings: [], problems: [wholeFile(file, `cannot be read (${reason}); correct ${from}`)], warnings: [] };
  }
  return readYaml({ file, text });
}

/** As it is in force when nobody sets the key. */
export const defaultValueOf = (key: ConfigKey): ConfigValue => defaultOf(key).value;

function defaultOf(key: ConfigKey): EffectiveValue {
  const definition = definitionOf(key);
  const outcome = parseValue(definition, rawDefault(definition));
  if (!outcome.ok) {
    throw new Error(`the default of ${key} is not a value of its own type`);
  }
  return { key, value: outcome.value, source: 'default', origin: 'built-in' };
}

/** Defaults take the same road as everything else, so the table cannot hold one that its own type refuses. */
function rawDefault(definition: KeyDefinition): RawValue {
  switch (definition.type) {
    case 'list':
      return { kind: 'list', items: definition.default };
    case 'map':
      return { kind: 'map', pairs: Object.entries(definition.default) };
    default:
      return { kind: 'text', text: String(definition.default) };
  }
}

/** Secrets in places where others can read them: the process list, a file that tends to end up in a repository. */
function exposureWarnings(setting: Setting, definition: KeyDefinition): string[] {
  const { key, source, origin } = setting;
  if (isSecret(definition) && source === 'flag') {
    return [`${origin}: a secret on the command line shows in process lists; set ${variableOf(key)} instead`];
  }
  if (definition.type === 'secret' && definition.keepOutOfFile === true && source === 'file') {
    return [`${origin}: ${key} should not be kept in a file; set ${variableOf(key)} instead`];
  }
  return [];
}

function shownValue(definition: KeyDefinition, raw: RawValue): string {
  switch (raw.kind) {
    case 'text':
      return maskText(definition, raw.text);
    case 'list':
      return raw.items.join(',');
    case 'map':
      return raw.pairs.map(([name, value]) => `${name}=${value}`).join(',');
  }
}

interface Branch {
  [name: string]: Branch | ConfigValue;
}

function buildConfig(entries: readonly EffectiveValue[]): Config {
  const root: Branch = {};
  for (const { key, value } of entries) {
    const path = configPathOf(key);
    const leaf = path.at(-1) ?? '';
    let branch = root;
    for (const part of path.slice(0, -1)) {
      branch = (branch[part] ??= {}) as Branch;
    }
    branch[leaf] = value;
  }
  // The table made both this object and the type, by the same rule; `keys.test.ts` holds them together.
  return deepFreeze(root) as unknown as Config;
}

function deepFreeze(branch: Branch): Branch {
  for (const value of Object.values(branch)) {
    if (typeof value === 'object' && !Object.isFrozen(value)) {
      deepFreeze(value as Branch);
    }
  }
  return Object.freeze(branch);
}
