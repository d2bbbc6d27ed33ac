import type { Services } from './api/services.ts';
import { createSessions } from './auth/sessions.ts';
import { createTokenSigner } from './auth/tokens.ts';
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import type { LogStore } from './logs/store.ts';
import type { Scheduler } from './engine/scheduler.ts';
import type { SecretRegistry } from './telemetry/redact.ts';
import type { Keyring } from './vault/keyring.ts';
import { createReaderMasks } from './vault/reader-masks.ts';
import type { ValueCache } from './xcom/value-cache.ts';
import type { WorkspaceCompiler } from './workspace/compiler.ts';

/** What the routes work with, from the configuration and a database. */
export function createServices(input: {
  config: Config;
  db: Database;
  secrets: SecretRegistry;
  scheduler: Scheduler;
  testConnection: Services['testConnection'];
  logs: LogStore;
  keyring: Keyring;
  workspaceCompiler: WorkspaceCompiler | undefined;
  valueCache: ValueCache;
  redisProblem: Services['redisProblem'];
  onFailedLogin: () => void;
}): Services {
  const { config, db, secrets, scheduler, testConnection, logs, keyring, workspaceCompiler, onFailedLogin } = input;
  const { valueCache, redisProblem } = input;
  return {
    config,
    db,
    secrets,
    scheduler,
    testConnection,
    logs,
    keyring,
    readerMasks: createReaderMasks({ db, keyring }),
    workspaceCompiler,
    valueCache,
    redisProblem,
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
  };
}
