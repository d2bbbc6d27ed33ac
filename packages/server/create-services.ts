import type { Logger } from 'pino';
import type { Services } from './api/services.ts';
import { alertSources } from './create-alerts.ts';
import { createSessions } from './auth/sessions.ts';
import type { Sessions } from './auth/sessions.ts';
import { createTokenSigner } from './auth/tokens.ts';
import { createProvider } from './auth/oidc/provider.ts';
import { createSingleSignOn } from './auth/oidc/single-sign-on.ts';
import type { SingleSignOn } from './auth/oidc/single-sign-on.ts';
import type { Config } from './config/load.ts';
import type { Database } from './db/database.ts';
import { createOpenStreams } from './http/admission/open-streams.ts';
import type { LogStore } from './logs/store.ts';
import type { Scheduler } from './engine/scheduler.ts';
import type { SecretRegistry } from './telemetry/redact.ts';
import type { Keyring } from './vault/keyring.ts';
import { openCompileValues } from './open-compile-values.ts';
import { createReaderMasks } from './vault/reader-masks.ts';
import type { StoredValues } from './xcom/stored/stored-values.ts';
import type { ValueCache } from './xcom/value-cache.ts';
import type { WorkspaceCompiler } from './workspace/compiler.ts';

/** Creates the services of the routes, from the configuration and a database. */
export function createServices(input: {
  config: Config;
  db: Database;
  secrets: SecretRegistry;
  scheduler: Scheduler;
  testConnection: Services['testConnection'];
  logs: LogStore;
  keyring: Keyring;
  workspaceCompiler: WorkspaceCompiler | undefined;
  workspaceTester: Services['workspaceTester'];
  wakeBundles: Services['wakeBundles'];
  valueCache: ValueCache;
  storedValues: StoredValues;
  redisProblem: Services['redisProblem'];
  onFailedLogin: () => void;
  onRefusedSignIn: Services['onRefusedSignIn'];
  log: Logger;
}): Services {
  const { config, db, secrets, scheduler, testConnection, logs, keyring, workspaceCompiler, onFailedLogin, log } =
    input;
  const { valueCache, storedValues, redisProblem } = input;
  const sessions = createSessions({
    db,
    onFailedLogin,
    tokens: createTokenSigner(config.auth.jwt.secret),
    settings: {
      tokenTtlSeconds: config.auth.jwt.tokenTtlSeconds,
      maxLifetimeSeconds: config.auth.jwt.maxLifetimeSeconds,
      failedLoginsPerMinute: config.auth.loginRateLimitPerMinute,
      breakGlassEmails: config.auth.provider === 'oidc' ? config.auth.oidc.breakGlassEmails : null,
    },
  });
  return {
    config,
    db,
    secrets,
    scheduler,
    testConnection,
    logs,
    openStreams: createOpenStreams(),
    keyring,
    compileValues: openCompileValues({ config, db, keyring }),
    readerMasks: createReaderMasks({ db, keyring }),
    alerts: alertSources({ config, db, keyring, graphs: scheduler.graphs, logs }),
    workspaceCompiler,
    workspaceTester: input.workspaceTester,
    wakeBundles: input.wakeBundles,
    valueCache,
    storedValues,
    redisProblem,
    sessions,
    singleSignOn: createConfiguredSignOn({ config, db, sessions, log }),
    onRefusedSignIn: input.onRefusedSignIn,
  };
}

function createConfiguredSignOn(input: {
  config: Config;
  db: Database;
  sessions: Sessions;
  log: Logger;
}): SingleSignOn | undefined {
  const { config, db, sessions, log } = input;
  if (config.auth.provider !== 'oidc') return undefined;
  const settings = config.auth.oidc;
  const provider = createProvider({ settings, log });
  // A first request shows early whether the provider answers. If it does not, the process starts anyway.
  provider.facts().then(
    (facts) => log.info(facts, 'single sign-on: the identity provider answers'),
    () => {}, // the provider has logged what is wrong
  );
  return createSingleSignOn({ db, settings, provider, sessions, secret: config.auth.jwt.secret });
}
