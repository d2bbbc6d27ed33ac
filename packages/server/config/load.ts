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

/** One key with its current value. `value` is not masked, so all output must go through render-effective.ts. */
export interface EffectiveValue {
  readonly key: ConfigKey;
  readonly value: ConfigValue;
  readonly source: Source;
  /** `server.yaml:3:5`, `SVC_SERVER_ROLE`, `--server.role` or `built-in`. */
  readonly origin: string;
}

export interface LoadOptions {
  /** Path of the YAML file (`--config`). Without it, the variable SVC_CONFIG is read. */
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
 * Loads the configuration. Flags override the environment, the environment overrides the file, and the file overrides
 * defaults. Lists and maps are replaced as a whole, never merged, so the strongest source shows what applies. Throws
 * one `ConfigError` with all problems. boot-checks.ts checks whether values fit together, so that `svc config` can show
 * a configuration that cannot boot.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const readings = [readConfigFile(options), readEnvironment(options.env), readFlags(options.flags ?? {})];
  const problems: ConfigProblem[] = readings.flatMap((reading) => reading.problems);
  const warnings: string[] = readings.flatMap((reading) => reading.warnings);
  const effective = new Map<ConfigKey, EffectiveValue>(configKeys.map((key) => [key, defaultOf(key)]));
  // The weakest source comes first, so the last one wins. An overridden value is parsed as well: a mistake in the file
  // should be known before the variable that hides it is removed.
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

/** The value of a key that no source sets. */
export const defaultValueOf = (key: ConfigKey): ConfigValue => defaultOf(key).value;

function defaultOf(key: ConfigKey): EffectiveValue {
  const definition = definitionOf(key);
  const outcome = parseValue(definition, rawDefault(definition));
  if (!outcome.ok) {
    throw new Error(`the default of ${key} is not a value of its own type`);
  }
  return { key, value: outcome.value, source: 'default', origin: 'built-in' };
}

/** Defaults are parsed like other values, so the table cannot contain a default that its own type refuses. */
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

/** Warns of secrets in places that others can read: the process list, or a file that may end up in a repository. */
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
  // The same table and rule produce this object and its type. `keys.test.ts` compares them.
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
