import { AUTH_KEYS, OIDC_KEYS, SECRET_KEY_KEYS } from '../keys-auth.ts';
import { BUNDLES_KEYS } from '../keys-bundles.ts';
import { EXECUTION_KEYS, EXECUTOR_DEFAULTS_KEYS, EXECUTOR_KEYS } from '../keys-executor.ts';
import {
  ALERTS_KEYS,
  CONNECTIONS_KEYS,
  DATABASE_KEYS,
  METRICS_KEYS,
  OBSERVABILITY_KEYS,
  REDIS_KEYS,
  SCHEDULER_KEYS,
  SERVER_KEYS,
  STATE_STORE_KEYS,
  UI_KEYS,
  XCOM_KEYS,
} from '../keys-server.ts';
import type { ConfigKey } from '../keys.ts';
import { COST_KEYS, LOGS_KEYS, SECRETS_KEYS } from '../keys-storage.ts';

export interface ReferenceSection {
  readonly title: string;
  /** What a reader must know about the whole section. */
  readonly intro?: string;
  readonly keys: readonly ConfigKey[];
}

function keysOf<T extends object>(keys: T): readonly (keyof T)[] {
  return Object.keys(keys) as (keyof T)[];
}

/** The chapters of the reference page, in reading order. */
export const REFERENCE_SECTIONS: readonly ReferenceSection[] = [
  {
    title: 'Server (`server.*`)',
    intro:
      'By default `X-Forwarded-For` is ignored and the client IP, which the login rate limiter and the audit log use, is the direct peer. With `server.trusted_proxies` the left-most entry of the header is honored for requests that come from those proxies. Do not list a broad private range where task pods run: a task could then forge its client IP. An invalid entry makes the server trust no proxy and log an error.',
    keys: keysOf(SERVER_KEYS),
  },
  { title: 'Database (`database.*`)', keys: keysOf(DATABASE_KEYS) },
  { title: 'Key-value store (`redis.*`)', keys: keysOf(REDIS_KEYS) },
  { title: 'Auth (`auth.*`)', keys: keysOf(AUTH_KEYS) },
  {
    title: 'Encryption at rest (`secret_key`)',
    intro:
      'To change the key, set the new one as `secret_key` and the old one as `secret_key_previous`. A raw key that contains a comma has to be given as hex or base64 among several previous keys.',
    keys: keysOf(SECRET_KEY_KEYS),
  },
  {
    title: 'Single sign-on (`auth.oidc.*`)',
    intro:
      "Read only when `auth.provider` is `oidc`; issuer, client id and redirect URL are then required. ID tokens are verified against the issuer's public keys, so no secret is stored for verification.",
    keys: keysOf(OIDC_KEYS),
  },
  { title: 'Scheduler (`scheduler.*`)', keys: keysOf(SCHEDULER_KEYS) },
  { title: 'Executor (`executor.*`)', keys: keysOf(EXECUTOR_KEYS) },
  {
    title: 'Executor task defaults (`executor.defaults.*`)',
    intro:
      'Applied at dispatch to fill gaps the compiled DAG left; they never override a value of the compiled artifact. CPU without memory leaves tasks with no memory bound, and the server warns about it at boot.',
    keys: keysOf(EXECUTOR_DEFAULTS_KEYS),
  },
  {
    title: 'Warm worker pools (`execution.*`)',
    intro: 'Reuse of one task pod across many attempts. With pools off, each attempt gets a pod of its own.',
    keys: keysOf(EXECUTION_KEYS),
  },
  { title: 'Bundles (`bundles.*`)', keys: keysOf(BUNDLES_KEYS) },
  { title: 'Logs (`logs.*`)', keys: keysOf(LOGS_KEYS) },
  {
    title: 'External secrets (`secrets.*`)',
    intro:
      'Set by the operator only; delivered to the task pod as `SVC_SECRETS_*` variables, which the environment of a task can never set.',
    keys: keysOf(SECRETS_KEYS),
  },
  { title: 'Cross-task values (`xcom.*`)', keys: keysOf(XCOM_KEYS) },
  {
    title: 'State stores of tasks and assets (`state_store.*`)',
    intro: 'Values that outlive tries and runs: [state that outlives tries](state.md).',
    keys: keysOf(STATE_STORE_KEYS),
  },
  { title: 'Connections (`connections.*`)', keys: keysOf(CONNECTIONS_KEYS) },
  { title: 'Observability (`observability.*`)', keys: keysOf(OBSERVABILITY_KEYS) },
  { title: 'Metrics (`metrics.*`)', keys: keysOf(METRICS_KEYS) },
  { title: 'Alerts (`alerts.*`)', keys: keysOf(ALERTS_KEYS) },
  { title: 'Cost (`cost.*`)', keys: keysOf(COST_KEYS) },
  { title: 'UI (`ui.*`)', keys: keysOf(UI_KEYS) },
];
