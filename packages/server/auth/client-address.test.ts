import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createProxyTrust } from '../config/trusted-proxies.ts';
import { clientAddress } from './client-address.ts';

const PROXY = '10.0.0.1';

function addressOf(input: { peer?: string; forwarded?: string; trusted?: string[] }): string {
  const { peer = PROXY, forwarded, trusted = [`${PROXY}/32`] } = input;
  const request = {
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  } as unknown as IncomingMessage;
  return clientAddress(request, createProxyTrust(trusted));
}

describe('the address of a client', () => {
  it('is the peer when nobody is trusted, whatever the header says', () => {
    expect(addressOf({ forwarded: '203.0.113.9', trusted: [] })).toBe(PROXY);
  });

  it('is the peer when the peer is not on the list', () => {
    expect(addressOf({ peer: '10.0.0.2', forwarded: '203.0.113.9' })).toBe('10.0.0.2');
  });

  it('is the left-most entry when the peer is a trusted proxy', () => {
    expect(addressOf({ forwarded: '203.0.113.9, 198.51.100.7, 10.0.0.9' })).toBe('203.0.113.9');
  });

  it('is the proxy when a trusted proxy says nothing', () => {
    expect(addressOf({})).toBe(PROXY);
    expect(addressOf({ forwarded: '' })).toBe(PROXY);
    expect(addressOf({ forwarded: ' , 203.0.113.9' })).toBe(PROXY);
  });

  it('has one spelling, so that one client has one budget', () => {
    expect(addressOf({ peer: `::ffff:${PROXY}`, forwarded: '203.0.113.9' })).toBe('203.0.113.9');
    expect(addressOf({ peer: '::ffff:192.0.2.1', trusted: [] })).toBe('192.0.2.1');
    expect(addressOf({ forwarded: '203.0.113.9:51234' })).toBe('203.0.113.9');
    expect(addressOf({ forwarded: '[2001:DB8::1]:51234' })).toBe('2001:db8::1');
    expect(addressOf({ forwarded: '::FFFF:203.0.113.9' })).toBe('203.0.113.9');
  });

  it('is never text that a client invented: a made-up name would be a fresh login budget', () => {
    const invented = fc.string({ unit: 'grapheme' }).filter((text) => !/^[\s\da-f.:[\],]*$/i.test(text));
    fc.assert(fc.property(invented, (text) => addressOf({ forwarded: text }) === PROXY));
  });

  it('is what an honest proxy reports, for every address', () => {
    fc.assert(fc.property(fc.ipV4(), (ip) => addressOf({ forwarded: `${ip}, 192.0.2.1` }) === ip));
  });
});
