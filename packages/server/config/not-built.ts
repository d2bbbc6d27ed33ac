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

const SSO = 'single sign-on is not built yet, and only passwords would work';
const SINK = 'logs are kept on disk only (logs.dir): object stores are not built yet';
const WARM = 'warm worker pools are not built yet: every attempt gets a pod of its own';

export const NOT_BUILT: Readonly<Partial<Record<ConfigKey, NotBuilt>>> = {
  'auth.provider': { words: SSO, values: ['oidc'] },
  'auth.oidc.issuer': { words: SSO },
  'auth.oidc.client_id': { words: SSO },
  'auth.oidc.client_secret': { words: SSO },
  'auth.oidc.redirect_url': { words: SSO },
  'auth.oidc.scopes': { words: SSO },
  'auth.oidc.groups_claim': { words: SSO },
  'auth.oidc.role_mappings': { words: SSO },
  'auth.oidc.default_role': { words: SSO },
  'auth.oidc.tenant_claim': { words: SSO },
  'auth.oidc.tenant_claims': { words: SSO },
  'auth.oidc.allowed_email_domains': { words: SSO },
  'auth.oidc.break_glass_emails': { words: SSO },
  'auth.oidc.jit_provisioning': { words: SSO },
  'auth.oidc.clock_skew_seconds': { words: SSO },
  'logs.backend': { words: SINK, values: ['objstore', 'cloudstore'] },
  'logs.sink.bucket': { words: SINK },
  'logs.sink.region': { words: SINK },
  'logs.sink.endpoint': { words: SINK },
  'logs.sink.force_path_style': { words: SINK },
  'logs.sink.access_key_id': { words: SINK },
  'logs.sink.secret_access_key': { words: SINK },
  'logs.sink.credentials_file': { words: SINK },
  'execution.warm_pools_enabled': { words: WARM },
  'execution.min_idle_workers': { words: WARM },
  'execution.max_pool_size': { words: WARM },
  'execution.max_attempts_per_worker': { words: WARM },
  'execution.max_worker_lifetime': { words: WARM },
  'execution.worker_idle_ttl': { words: WARM },
  'execution.max_warm_pods_per_tenant': { words: WARM },
};

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
