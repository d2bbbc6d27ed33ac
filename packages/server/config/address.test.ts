import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLoopbackHost, parseAddress } from './address.ts';

describe('parseAddress', () => {
  test.each([
    ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
    [':8080', { host: '', port: 8080 }],
    ['[::1]:9091', { host: '::1', port: 9091 }],
    ['[::]:0', { host: '::', port: 0 }],
    ['localhost:65535', { host: 'localhost', port: 65_535 }],
    ['svc.flows.svc.cluster.local.:9091', { host: 'svc.flows.svc.cluster.local.', port: 9091 }],
    ['svc_api-1:80', { host: 'svc_api-1', port: 80 }],
  ])('reads %s', (text, expected) => {
    expect(parseAddress(text)).toEqual(expected);
  });

  test.each([
    '',
    '8080',
    'localhost',
    'localhost:',
    'localhost:http',
    'localhost:65536',
    'localhost:-1',
    '::1:8080',
    '[::1]',
    '[localhost]:80',
    '[::g]:80',
    '256.0.0.1:80',
    '1.2.3:80',
    'a b:80',
    '-a:80',
    'http://localhost:80',
    'localhost:80/path',
    'a..b:80',
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  test('a hostile name is refused in bounded time', () => {
    expect(parseAddress(`${'a-'.repeat(50_000)}:80`)).toBeUndefined();
  });
});

describe('isLoopbackHost', () => {
  test.each([
    '127.0.0.1',
    '127.255.0.3',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    'localhost',
    'LOCALHOST',
  ])('%s is loopback', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });

  test.each([
    '',
    '0.0.0.0',
    '::',
    '::2',
    '128.0.0.1',
    '10.0.0.1',
    '::ffff:10.0.0.1',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '127',
    'svc',
  ])('%j is not loopback', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });

  test('no IPv4 address outside 127.0.0.0/8 passes', () => {
    fc.assert(
      fc.property(fc.ipV4(), (host) => {
        expect(isLoopbackHost(host)).toBe(host.startsWith('127.'));
      }),
    );
  });
});
