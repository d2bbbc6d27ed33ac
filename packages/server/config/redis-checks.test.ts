import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkBoot } from './boot-checks.ts';
import { loadConfig } from './load.ts';

const SOUND = { SVC_AUTH_JWT_SECRET: 'j'.repeat(32), SVC_SECRET_KEY: 'k'.repeat(32) };
const problems = (env: Record<string, string>) => checkBoot(loadConfig({ env: { ...SOUND, ...env } }).config).errors;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-redis-checks-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

describe('redis.url', () => {
  it.each([
    'redis://store',
    'rediss://store:6380/0',
    'redis://:pass@store:6379/15',
    'redis://user:p%40ss@[::1]:6379',
    'redis://store/',
  ])('may be %s', (url) => {
    expect(problems({ SVC_REDIS_URL: url })).toEqual([]);
  });

  it.each([
    ['redis://:hidden@store:port', 'is no URL'],
    ['redis://:hidden@', 'is no URL'],
    ['redis://store:99999', 'is no URL'],
    ['redis://:hidden@store/name', 'no database number'],
    ['redis://:hidden@store/1/2', 'no database number'],
    ['redis://:hidden@store?db=1', 'a query'],
    ['redis://:hidden%zz@store', 'stray %'],
  ])('is refused in words, without its password: %s', (url, words) => {
    const [problem, ...others] = problems({ SVC_REDIS_URL: url });
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ key: 'redis.url', message: expect.stringContaining(words) as string });
    expect(problem?.message).toContain('set SVC_REDIS_URL to rediss://');
    expect(problem?.message).not.toContain('hidden');
  });
});

describe('redis.ca_file', () => {
  const [authority = ''] = getCACertificates('bundled');

  it('is a bundle of one or more certificates, with whatever is between them', () => {
    for (const text of [authority, `# ours\n${authority}\n\n# theirs\n${authority}`]) {
      const env = { SVC_REDIS_URL: 'rediss://store', SVC_REDIS_CA_FILE: file('ca.pem', text) };
      expect(problems(env)).toEqual([]);
    }
  });

  it.each([
    ['is not there', () => join(directory, 'none.pem'), 'ENOENT'],
    ['is a directory', () => directory, 'EISDIR'],
    ['is empty', () => file('empty.pem', ''), 'no PEM certificate'],
    ['is a key', () => file('key.pem', '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----'), 'no PEM'],
    ['has a broken one', () => file('broken.pem', authority.replace(/\n\w{8}/, '\nAAAAAAAA')), 'certificate 1 of 1'],
  ])('that %s is refused', (_what, path, words) => {
    const found = problems({ SVC_REDIS_URL: 'rediss://store', SVC_REDIS_CA_FILE: path() });
    expect(found).toEqual([{ key: 'redis.ca_file', message: expect.stringContaining(words) as string }]);
    expect(found[0]?.message).toContain('set SVC_REDIS_CA_FILE to');
  });

  it('that nobody would read is refused: without rediss:// there is no TLS', () => {
    const ca = file('ca.pem', authority);
    expect(problems({ SVC_REDIS_CA_FILE: ca })[0]?.message).toContain('redis.url is not set');
    expect(problems({ SVC_REDIS_CA_FILE: ca, SVC_REDIS_URL: 'redis://store' })[0]?.message).toContain('without TLS');
  });
});
