import { expect, it } from 'vitest';
import { checkHost, refusalOf } from './outbound.ts';

const INSIDE = [
  '127.0.0.1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '0.0.0.0',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '2002:a00:1::',
  'fd12::1',
  'fec0::1',
];
const METADATA = [
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '64:ff9b::169.254.169.254',
  '2002:a9fe:a9fe::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  '100.100.100.200',
  '192.0.0.192',
];

it.each(INSIDE)('a channel of a tenant does not reach %s, unless the operator allows private addresses', (address) => {
  expect(refusalOf(address, { allowsPrivate: false })).toContain('not allowed');
  expect(refusalOf(address, { allowsPrivate: true })).toBeNull();
});

it.each(METADATA)('a channel of a tenant never reaches the metadata service of a cloud at %s', (address) => {
  for (const allowsPrivate of [true, false]) {
    expect(refusalOf(address, { allowsPrivate })).toContain('never allowed');
  }
});

it.each(['1.1.1.1', '2606:4700::1111', '::ffff:1.1.1.1'])('a channel of a tenant reaches %s', (address) => {
  expect(refusalOf(address, { allowsPrivate: false })).toBeNull();
});

it('an address in brackets is checked as the address that it is', () => {
  expect(() => checkHost('[::1]', { allowsPrivate: false })).toThrow(/private network/);
});
