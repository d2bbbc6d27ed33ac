import { stopInTurn } from './stop-parts.ts';
import { pino } from 'pino';
import { registerRoutes } from './api/routes.ts';
import { loadConfig } from './config/load.ts';
import { createRunEngine } from './create-run-engine.ts';
import { createServices } from './create-services.ts';
import { openDatabase } from './db/database.ts';
import { buildApp } from './http/app.ts';
import { createLogStore } from './logs/create-log-store.ts';
import { openKeyring } from './open-keyring.ts';
import { createSecretRegistry } from './telemetry/redact.ts';
import { createStoredValues } from './xcom/stored/stored-values.ts';
import { createValueFiles } from './xcom/stored/value-files.ts';
import { createValueCache } from './xcom/value-cache.ts';

/**
 * Returns the OpenAPI document of the API as JSON text. It needs no database: the routes are registered and never
 * called.
 */
export async function renderOpenApi(): Promise<string> {
  const flags = { 'auth.jwt.secret': 'signs nothing: no request is ever served', 'scheduler.enabled': 'false' };
  const { config } = loadConfig({ env: {}, flags });
  const db = openDatabase({
    url: config.database.url,
    maxOpenConns: 1,
    maxIdleConns: 0,
    statementTimeoutMs: 0,
    idleInTransactionTimeoutMs: 0,
  });
  const logger = pino({ level: 'silent' });
  const logs = createLogStore({ config, writing: db, reading: db, processId: '', logger });
  const keyring = openKeyring(config);
  const valueCache = createValueCache(null);
  const storedValues = createStoredValues({ db, files: createValueFiles(config) });
  const engine = createRunEngine({ config, db, keyring, logs, valueCache, storedValues, logger, processId: '' });
  const services = createServices({
    config,
    db,
    scheduler: engine.scheduler,
    logs,
    keyring,
    testConnection: undefined,
    workspaceCompiler: undefined,
    workspaceTester: undefined,
    wakeBundles: () => {},
    secrets: createSecretRegistry(),
    valueCache,
    storedValues,
    redisProblem: undefined,
    onFailedLogin: () => {},
    onRefusedSignIn: () => {},
    log: logger,
  });
  const app = await buildApp({
    db,
    readiness: { reason: () => null },
    access: { sessions: services.sessions, proxies: { isTrusted: () => false }, everybodyIs: () => null },
    corsOrigins: [],
    logger,
    plugins: [],
    registerRoutes: (routed) => registerRoutes(routed, services),
  });
  const document = JSON.stringify(app.swagger(), null, 2);
  await app.close();
  await stopInTurn(logger, engine.parts);
  await db.close();
  return `${document}\n`;
}
