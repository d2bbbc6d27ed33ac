import { describe, expect, test } from 'vitest';
import { credentialsIn, isSensitiveFieldName, isSensitiveName } from './sensitive-names.ts';

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

describe('texts under sensitive names', () => {
  test('are found at any depth, and indexes of lists are no names', () => {
    const value = { user: 'u', password: 'p', nested: [{ api_key: ['k1', { of: 'k2', number: 3 }] }, 'plain', null] };
    expect(credentialsIn(value)).toEqual(['p', 'k1', 'k2']);
    expect(credentialsIn('text')).toEqual([]);
    expect(credentialsIn('text', true)).toEqual(['text']);
    expect(credentialsIn({ token: null, secret: 5 })).toEqual([]);
  });
});
