import type { Services } from './api/services.ts';
import { createSessions } from './auth/sessions.ts';
import { createTokenSigner } from './auth/tokens.ts';
import type { Config } from './config/load.ts';
import { readSecretKeys } from './config/secret-key.ts';
import type { Database } from './db/database.ts';
import { createLogStore } from './logs/create-log-store.ts';
import type { Scheduler } from './scheduling/scheduler.ts';
import type { SecretRegistry } from './telemetry/redact.ts';
import { createKeyring } from './vault/keyring.ts';

/** What the routes work with, from the configuration and a database. */
export function createServices(input: {
  config: Config;
  db: Database;
  secrets: SecretRegistry;
  scheduler: Scheduler;
  reason: () => string | null;
  onFailedLogin: () => void;
}): Services {
  const { config, db, secrets, scheduler, reason, onFailedLogin } = input;
  const { keys } = readSecretKeys(config);
  return {
    config,
    db,
    secrets,
    scheduler,
    logs: createLogStore(config),
    keyring: createKeyring({ current: keys.current ?? null, previous: keys.previous }),
    sessions: createSessions({
      db,
      onFailedLogin,
      tokens: createTokenSigner(config.auth.jwt.secret),
      settings: {
        tokenTtlSeconds: config.auth.jwt.tokenTtlSeconds,
        maxLifetimeSeconds: config.auth.jwt.maxLifetimeSeconds,
        failedLoginsPerMinute: config.auth.loginRateLimitPerMinute,
      },
    }),
    readiness: { reason },
  };
}
