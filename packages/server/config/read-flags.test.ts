import { describe, expect, test } from 'vitest';
import { takeConfigFlags } from './arguments.ts';
import { readFlags } from './read-flags.ts';
import type { Flags } from './read-flags.ts';

function raws(flags: Flags): unknown[] {
  return readFlags(flags).settings.map(({ key, raw }) => ({ key, raw }));
}

function messages(flags: Flags): string[] {
  return readFlags(flags).problems.map((problem) => problem.message);
}

describe('readFlags', () => {
  test.each(['server.http-addr', 'server.http_addr', '--server.http-addr', '--server.http_addr'])(
    '%s is the same flag',
    (name) => {
      expect(raws({ [name]: ':1' })).toEqual([{ key: 'server.http_addr', raw: { kind: 'text', text: ':1' } }]);
    },
  );

  test('lists by repeating, by commas, and by both', () => {
    expect(raws({ 'auth.oidc.scopes': ['openid', 'email,groups'] })).toEqual([
      { key: 'auth.oidc.scopes', raw: { kind: 'list', items: ['openid', 'email', 'groups'] } },
    ]);
    expect(raws({ 'server.trusted-proxies': '' })).toEqual([
      { key: 'server.trusted_proxies', raw: { kind: 'list', items: [''] } },
    ]);
  });

  test('maps by repeating; the last = splits, because directory groups contain the others', () => {
    expect(raws({ 'auth.oidc.role-mappings': ['dev=viewer', 'CN=Data,OU=Teams=admin'] })).toEqual([
      {
        key: 'auth.oidc.role_mappings',
        raw: {
          kind: 'map',
          pairs: [
            ['dev', 'viewer'],
            ['CN=Data,OU=Teams', 'admin'],
          ],
        },
      },
    ]);
  });

  test.each<[Flags, string]>([
    [{ 'server.htp-addr': ':1' }, '--server.htp-addr: unknown key "server.htp-addr"; did you mean --server.http-addr?'],
    [{ '--http-addr': ':1' }, '--http-addr: unknown key "--http-addr"; did you mean --server.http-addr?'],
    [
      { 'server.role': ['all', 'api'] },
      '--server.role: server.role is "all api"; allowed: one value, but 2 were given',
    ],
    [{ 'server.role': [] }, '--server.role: server.role is ""; allowed: one value, but 0 were given'],
    [
      { 'auth.oidc.role-mappings': 'dev' },
      '--auth.oidc.role-mappings: auth.oidc.role_mappings is "dev"; allowed: name=value, the flag repeated for further pairs',
    ],
    [
      { 'auth.oidc.role-mappings': ['dev=viewer', 'dev=admin'] },
      '--auth.oidc.role-mappings: auth.oidc.role_mappings is "dev=admin"; allowed: each name once',
    ],
  ])('%j is refused', (flags, message) => {
    expect(messages(flags)).toEqual([message]);
  });

  test('the two spellings of one flag are one flag given twice, not two of which one wins', () => {
    expect(messages({ 'server.http-addr': ':1', 'server.http_addr': ':2' })).toHaveLength(1);
  });
});

describe('takeConfigFlags', () => {
  test('takes configuration flags in every form and leaves the rest in order', () => {
    const argv = [
      'server',
      '--server.http-addr',
      ':1',
      '--config',
      'a.yaml',
      '--logs.dir=/l=x',
      '--secret-key',
      'k',
      '--verbose',
      'x',
    ];
    expect(takeConfigFlags(argv)).toEqual({
      flags: { 'server.http-addr': [':1'], 'logs.dir': ['/l=x'], 'secret-key': ['k'] },
      rest: ['server', '--config', 'a.yaml', '--verbose', 'x'],
    });
  });

  test('a boolean flag needs no value and does not swallow the next word', () => {
    expect(takeConfigFlags(['--auth.dev-no-auth', 'deploy', '--scheduler.enabled', 'no'])).toEqual({
      flags: { 'auth.dev-no-auth': ['true'], 'scheduler.enabled': ['no'] },
      rest: ['deploy'],
    });
  });

  test('repeated flags are collected, negative numbers are values', () => {
    const { flags } = takeConfigFlags([
      '--auth.oidc.scopes',
      'a',
      '--auth.oidc.scopes=b',
      '--auth.jwt.max-lifetime-seconds',
      '-1',
    ]);
    expect(flags).toEqual({ 'auth.oidc.scopes': ['a', 'b'], 'auth.jwt.max-lifetime-seconds': ['-1'] });
  });

  test('a missing value is reported by the loader and does not eat the next flag', () => {
    const { flags } = takeConfigFlags(['--server.role', '--logs.dir', '/l']);
    expect(flags).toEqual({ 'server.role': [], 'logs.dir': ['/l'] });
    expect(messages(flags)).toEqual(['--server.role: server.role is ""; allowed: one value, but 0 were given']);
  });

  test('a misspelt dotted flag is taken, so that it is reported with the nearest key', () => {
    const { flags, rest } = takeConfigFlags(['--servr.role', 'api']);
    expect(rest).toEqual([]);
    expect(messages(flags)).toEqual(['--servr.role: unknown key "servr.role"; did you mean --server.role?']);
  });

  test('nothing behind -- is touched', () => {
    expect(takeConfigFlags(['--', '--server.role', 'api'])).toEqual({
      flags: {},
      rest: ['--', '--server.role', 'api'],
    });
  });
});
