import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { broadRanges, createProxyTrust } from './trusted-proxies.ts';

describe('createProxyTrust', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.1.0.0/16', '10.1.255.3', true],
    ['10.1.0.0/16', '10.2.0.1', false],
    ['10.1.2.3/16', '10.1.9.9', true],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['10.0.0.1', '::ffff:a00:1', true],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '10.200.1.1', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
    ['2001:db8::/32', '2001:db8:1::5', true],
    ['2001:db8::/32', '2001:db9::5', false],
    ['::1', '0:0:0:0:0:0:0:1', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['0.0.0.0/0', '192.0.2.1', true],
  ])('%s on behalf of %s: %s', (entry, peer, expected) => {
    const trust = createProxyTrust([entry]);
    expect(trust.error).toBeUndefined();
    expect(trust.isTrusted(peer)).toBe(expected);
  });

  test('an empty list trusts nobody and is no error', () => {
    const trust = createProxyTrust([]);
    expect(trust.error).toBeUndefined();
    expect(trust.isTrusted('127.0.0.1')).toBe(false);
  });

  test.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0',
    'proxy.local',
    '*',
    '10.0.0.1/',
    '10.0.0.1/8/8',
    '10.0.0.1-10.0.0.9',
    '010.0.0.1',
    '10.0.0.1/-1',
    '',
    'fe80::1%eth0',
  ])('one invalid entry, %j, and nobody is trusted, not even the valid ones', (bad) => {
    const trust = createProxyTrust(['10.0.0.1', bad]);
    expect(trust.isTrusted('10.0.0.1')).toBe(false);
    expect(trust.error).toBe(
      `server.trusted_proxies: ${JSON.stringify(bad)} is not an IP address or CIDR range; no proxy is trusted and X-Forwarded-For is ignored until this is corrected`,
    );
  });

  test('a peer that is no address is not trusted and does not throw', () => {
    const trust = createProxyTrust(['0.0.0.0/0', '::/0']);
    for (const peer of ['', 'unix:', 'localhost', '1.2.3', '::g', '%', '10.0.0.1, 10.0.0.2']) {
      expect(trust.isTrusted(peer)).toBe(false);
    }
  });

  test('no list and no peer make it throw, and garbage is never trusted', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.ipV4Extended(), fc.ipV6())), fc.string(), (list, peer) => {
        const trust = createProxyTrust(list);
        expect(trust.error !== undefined && trust.isTrusted('10.0.0.1')).toBe(false);
        expect(typeof trust.isTrusted(peer)).toBe('boolean');
      }),
    );
  });
});

test('ranges that can hold a pod network are called broad, single proxies and subnets are not', () => {
  const list = [
    '10.0.0.0/8',
    '10.42.0.0/16',
    '10.42.1.0/24',
    '10.0.0.1',
    'fd00::/8',
    '2001:db8::1',
    '::ffff:10.0.0.0/104',
    'nonsense',
  ];
  expect(broadRanges(list)).toEqual(['10.0.0.0/8', '10.42.0.0/16', 'fd00::/8', '::ffff:10.0.0.0/104']);
});
