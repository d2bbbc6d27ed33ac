// All configuration keys of the control plane. To add a key, add it to the file of its section. Everything else
// (parsing, `Config`, JSON Schema, reference page, `svc config`) follows from the table.

import type { KeyDefinition, ValueOf } from './key-definition.ts';
import { AUTH_KEYS, OIDC_KEYS, SECRET_KEY_KEYS } from './keys-auth.ts';
import { BUNDLES_KEYS } from './keys-bundles.ts';
import { EXECUTION_KEYS, EXECUTOR_DEFAULTS_KEYS, EXECUTOR_KEYS } from './keys-executor.ts';
import {
  CONNECTIONS_KEYS,
  DATABASE_KEYS,
  ALERTS_KEYS,
  METRICS_KEYS,
  OBSERVABILITY_KEYS,
  REDIS_KEYS,
  SCHEDULER_KEYS,
  SERVER_KEYS,
  STATE_STORE_KEYS,
  UI_KEYS,
  XCOM_KEYS,
} from './keys-server.ts';
import { COST_KEYS, LOGS_KEYS, SECRETS_KEYS } from './keys-storage.ts';

/** In the order in which the pages and `svc config` show them. */
export const CONFIG_KEYS = {
  ...SERVER_KEYS,
  ...DATABASE_KEYS,
  ...REDIS_KEYS,
  ...AUTH_KEYS,
  ...SECRET_KEY_KEYS,
  ...OIDC_KEYS,
  ...SCHEDULER_KEYS,
  ...EXECUTOR_KEYS,
  ...EXECUTOR_DEFAULTS_KEYS,
  ...EXECUTION_KEYS,
  ...BUNDLES_KEYS,
  ...LOGS_KEYS,
  ...SECRETS_KEYS,
  ...XCOM_KEYS,
  ...STATE_STORE_KEYS,
  ...CONNECTIONS_KEYS,
  ...OBSERVABILITY_KEYS,
  ...METRICS_KEYS,
  ...ALERTS_KEYS,
  ...COST_KEYS,
  ...UI_KEYS,
} as const satisfies Record<string, KeyDefinition>;

type Keys = typeof CONFIG_KEYS;
export type ConfigKey = keyof Keys;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;
type HeadOf<K> = K extends `${infer Head}.${string}` ? Head : K;
type Below<T, Head extends string> = { [K in keyof T as K extends `${Head}.${infer Tail}` ? Tail : never]: T[K] };
type Tree<T> = {
  readonly [Head in HeadOf<keyof T> & string as CamelCase<Head>]: Head extends keyof T
    ? T[Head] extends KeyDefinition
      ? ValueOf<T[Head]>
      : never
    : Tree<Below<T, Head>>;
};

/**
 * The typed configuration: `server.http_addr` is `config.server.httpAddr`. Durations are in milliseconds. Maps have no
 * prototype, so a claim value such as `constructor` finds nothing.
 */
export type Config = Tree<Keys>;

export const configKeys = Object.keys(CONFIG_KEYS) as readonly ConfigKey[];

export function isConfigKey(name: string): name is ConfigKey {
  return Object.hasOwn(CONFIG_KEYS, name);
}

/** Returns the definition with the union type, so that a `switch` on its type narrows it. */
export function definitionOf(key: ConfigKey): KeyDefinition {
  return CONFIG_KEYS[key];
}

/** `auth.oidc.client_id` → `SVC_AUTH_OIDC_CLIENT_ID`. */
export function variableOf(key: string): string {
  return `SVC_${key.toUpperCase().replaceAll(/[.-]/g, '_')}`;
}

/** `server.http_addr` → `--server.http-addr`. */
export function flagOf(key: string): string {
  return `--${key.replaceAll('_', '-')}`;
}

/** Turns `auth.jwt.token_ttl_seconds` into `['auth', 'jwt', 'tokenTtlSeconds']`, its path in a `Config`. */
export function configPathOf(key: ConfigKey): readonly string[] {
  return key.split('.').map((part) => part.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()));
}
