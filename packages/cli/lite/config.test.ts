import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadLiteConfig } from './config.ts';
import { liteDefaults } from './defaults.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-lite-config-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const defaults = liteDefaults({
  port: 8088,
  secrets: { jwtSecret: 'j'.repeat(32), secretKey: 'a'.repeat(64), databasePassword: 'd', adminPassword: 'p' },
  logs: '/d/logs',
  staging: '/d/staging',
  agentPath: '/bin/svc-agent',
  taskUser: '',
  workspace: '/w',
});

const configWith = (input: {
  env?: Record<string, string>;
  flags?: Record<string, string>;
  yaml?: string;
  port?: number;
}) => {
  const { env = {}, flags = {}, yaml, port } = input;
  const file = join(directory, 'svc.yaml');
  if (yaml !== undefined) writeFileSync(file, yaml);
  return loadLiteConfig(
    { env, configFlags: flags },
    { ...(yaml !== undefined && { config: file }), ...(port !== undefined && { port }) },
  );
};

describe('the configuration of lite', () => {
  it('has the development values of the edition where nobody says otherwise', () => {
    const config = configWith({}).withDefaults(defaults);
    expect(config.server.httpAddr).toBe('127.0.0.1:8088');
    expect(config.ui).toMatchObject({ edition: 'lite', autoRefreshIntervalSeconds: 1, workspace: '/w' });
    expect(config.executor.type).toBe('subprocess');
    expect(config.redis.url).toBe('');
    expect(config.auth).toMatchObject({ loginRateLimitPerMinute: 100, sessionCookieInsecure: true });
    expect(config.observability.otel.enabled).toBe(false);
  });

  it('lets a file, a variable and a flag win over its own values, each over the one before', () => {
    const yaml = 'ui:\n  edition: pro\n  auto_refresh_interval_seconds: 5\nlogs:\n  dir: /from/file\n';
    const env = { SVC_UI_AUTO_REFRESH_INTERVAL_SECONDS: '7', SVC_LOGS_DIR: '/from/env' };
    const config = configWith({ yaml, env, flags: { 'logs.dir': '/from/flag' } }).withDefaults(defaults);
    expect(config.ui.edition).toBe('pro');
    expect(config.ui.autoRefreshIntervalSeconds).toBe(7);
    expect(config.logs.dir).toBe('/from/flag');
  });

  it('respects a value that the user set to the built-in default: set is set', () => {
    const config = configWith({ env: { SVC_AUTH_LOGIN_RATE_LIMIT_PER_MINUTE: '5' } }).withDefaults(defaults);
    expect(config.auth.loginRateLimitPerMinute).toBe(5);
  });

  it('takes --port as strong as a flag, and refuses it beside the flag it abbreviates', () => {
    const env = { SVC_SERVER_HTTP_ADDR: '127.0.0.1:1' };
    expect(configWith({ env, port: 9000 }).withDefaults(defaults).server.httpAddr).toBe('127.0.0.1:9000');
    expect(() => configWith({ flags: { 'server.http-addr': ':1' }, port: 9000 })).toThrow('give one of them');
  });

  it('warns about what the user did, not about the secrets it passes along itself', () => {
    expect(configWith({}).warnings).toEqual([]);
    expect(configWith({ flags: { 'secret-key': 'a'.repeat(64) } }).warnings).toHaveLength(1);
    expect(configWith({ env: { SVC_HOME: '/x', SVC_PASSWORD: 'y' } }).warnings).toEqual([]);
  });
});
