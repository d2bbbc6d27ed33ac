import { describe, expect, test } from 'vitest';
import { configKeys, definitionOf, variableOf } from './keys.ts';
import { loadConfig } from './load.ts';
import { maskText } from './mask.ts';
import { effectiveJson, effectiveRows } from './render-effective.ts';

const MARKER = 'hunter2hunter2hunter2hunter2hunter2';

function rowOf(key: string, env: Record<string, string>, flags: Record<string, string[]> = {}): unknown {
  return effectiveRows(loadConfig({ env, flags }).entries).find((row) => row.key === key);
}

test('there is one row per key, in table order', () => {
  expect(effectiveRows(loadConfig({ env: {} }).entries).map((row) => row.key)).toEqual(configKeys);
});

test('a row says the value and where it came from', () => {
  expect(rowOf('server.role', { SVC_SERVER_ROLE: 'api' })).toEqual({
    key: 'server.role',
    value: 'api',
    source: 'env',
    origin: 'SVC_SERVER_ROLE',
  });
  expect(rowOf('execution.max_worker_lifetime', {})).toEqual({
    key: 'execution.max_worker_lifetime',
    value: '1h',
    source: 'default',
    origin: 'built-in',
  });
});

test('lists and maps are readable', () => {
  expect(rowOf('auth.oidc.scopes', {})).toHaveProperty('value', 'openid, email, profile');
  expect(rowOf('auth.oidc.role_mappings', {}, { 'auth.oidc.role-mappings': ['a=b', 'c=d'] })).toHaveProperty(
    'value',
    'a=b, c=d',
  );
});

test('no secret appears in either form, whichever key holds it, and an unset one shows as empty', () => {
  const secrets = configKeys.filter((key) => ['secret', 'json'].includes(definitionOf(key).type));
  expect(secrets.length).toBeGreaterThanOrEqual(8);
  const valueFor = (key: string): string => (key === 'secrets.backend_kwargs' ? JSON.stringify({ MARKER }) : MARKER);
  const env = {
    ...Object.fromEntries(secrets.map((key) => [variableOf(key), valueFor(key)])),
    SVC_DATABASE_URL: `postgres://svc:${MARKER}@db/svc`,
    SVC_REDIS_URL: `redis://:${MARKER}@store:6379`,
  };
  const { entries } = loadConfig({ env });
  const output = JSON.stringify([effectiveRows(entries), effectiveJson(entries)]);
  expect(output).not.toContain(MARKER);
  for (const key of secrets) {
    expect(rowOf(key, env)).toHaveProperty('value', '***');
    expect(rowOf(key, {})).toHaveProperty('value', '');
  }
});

test('the JSON form keeps types, and writes durations the way one sets them', () => {
  const byKey = new Map(effectiveJson(loadConfig({ env: {} }).entries).map((entry) => [entry.key, entry]));
  expect(byKey.get('database.max_open_conns')).toEqual({
    key: 'database.max_open_conns',
    variable: 'SVC_DATABASE_MAX_OPEN_CONNS',
    value: 25,
    source: 'default',
    origin: 'built-in',
    edition: 'both',
  });
  expect(byKey.get('scheduler.enabled')?.value).toBe(true);
  expect(byKey.get('auth.oidc.scopes')?.value).toEqual(['openid', 'email', 'profile']);
  expect(byKey.get('auth.max_attempt_credential_lifetime')?.value).toBe('24h');
});

describe('masking', () => {
  const url = definitionOf('database.url');

  test.each([
    ['postgres://svc:pw@db:5432/svc', 'postgres://svc:***@db:5432/svc'],
    ['postgres://svc@db/svc', 'postgres://svc@db/svc'],
    ['postgres://db:5432/svc', 'postgres://db:5432/svc'],
    ['postgres://svc:p@w@db/svc', 'postgres://svc:***@db/svc'],
    ['postgres://svc:12/34@db/svc', 'postgres://svc:***@db/svc'],
    ['postgres://svc:p#w?@db/svc', 'postgres://svc:***@db/svc'],
    ['redis://:pw@store:6379/0', 'redis://:***@store:6379/0'],
    ['postgres://db/svc?user=u&password=pw&sslmode=require', 'postgres://db/svc?user=u&password=***&sslmode=require'],
    ['pw', '***'],
    ['', ''],
  ])('%s is shown as %s', (text, shown) => {
    expect(maskText(url, text)).toBe(shown);
  });

  test('a private key pasted where its path belongs is not shown', () => {
    expect(maskText(definitionOf('server.grpc_tls.key'), '-----BEGIN PRIVATE KEY-----\nMIIE')).toBe('***');
    expect(maskText(definitionOf('server.grpc_tls.key'), '/tls/key.pem')).toBe('/tls/key.pem');
  });
});
