import { describe, expect, test } from 'vitest';
import { isSensitiveFieldName, isSensitiveName } from './sensitive-names.ts';

describe('names that mark a secret', () => {
  test.each([
    'secret',
    'password',
    'passwd',
    'passphrase',
    'token',
    'apikey',
    'api_key',
    'access_key',
    'private_key',
    'authorization',
    'credential',
    'keyfile',
    'DB_PASSWORD',
    'aws_secret_access_key',
    'refreshToken',
    'apiKey',
    'X-Api-Key',
    'accessKeyId',
    'keyfile_dict',
    'google_credentials',
    'extra__private_key_content',
    'Proxy-Authorization',
    'connection_string',
    'AZURE_STORAGE_CONNECTION_STRING',
    'connStr',
    'routing_key',
    'account_key',
    'signingKey',
    'service_account_json',
  ])('%s is sensitive, whatever its case and surroundings', (name) => {
    expect(isSensitiveName(name)).toBe(true);
  });

  test.each([
    'host',
    'login',
    'schema',
    'key',
    'keyboard',
    'monkey',
    'pass',
    'dag_id',
    'public_key',
    'cookie',
    'connection',
    'account',
    '',
  ])('%s is not masked away', (name) => {
    expect(isSensitiveName(name)).toBe(false);
  });

  test('a session cookie is a secret wherever headers are seen, though not in the vault', () => {
    expect(['Cookie', 'set-cookie', 'password'].map(isSensitiveFieldName)).toEqual([true, true, true]);
    expect(isSensitiveFieldName('host')).toBe(false);
  });
});
