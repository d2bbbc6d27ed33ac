import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { UnsealError, createKeyring } from './keyring.ts';
import type { Binding } from './keyring.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const binding: Binding = { tenantId: 't1', table: 'connections', row: 'c1', column: 'password' };
const ring = createKeyring({ current: NEW, previous: [OLD] });

describe('a sealed value', () => {
  test('opens to what was sealed, and shows nothing of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
        const sealed = ring.seal(plain, binding);
        expect(ring.unseal(sealed, binding)).toBe(plain);
        expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9+/]+=*$/);
      }),
    );
  });

  it('is another one each time: equal secrets cannot be told from their bytes', () => {
    expect(ring.seal('same', binding)).not.toBe(ring.seal('same', binding));
  });

  test.each([
    ['tenant', { ...binding, tenantId: 't2' }],
    ['table', { ...binding, table: 'variables' }],
    ['row', { ...binding, row: 'c2' }],
    ['column', { ...binding, column: 'extra' }],
    [
      'parts that only join to the same text',
      { ...binding, tenantId: 't1","connections', table: 'c1', row: 'password' },
    ],
  ])('does not open with another binding: %s', (_what, elsewhere) => {
    expect(() => ring.unseal(ring.seal('x', binding), elsewhere)).toThrow(UnsealError);
  });

  test('never opens after any one bit of it has changed', () => {
    const sealed = ring.seal('a secret', binding);
    const [version, id, body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const damaged = Buffer.from(bytes);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => ring.unseal(`${version}.${id}.${damaged.toString('base64')}`, binding)).toThrow(UnsealError);
    }
  });

  test.each(['', 'plain', 'v1', 'v1.', 'v2.00000000.AAAA', 'v1.00000000.AAAA'])('%j does not open', (text) => {
    expect(() => ring.unseal(text, binding)).toThrow(UnsealError);
  });

  test.each([
    ['cut short', (sealed: string) => sealed.slice(0, -8)],
    ['cut to less than a tag', (sealed: string) => sealed.slice(0, 20)],
    ['with something behind it', (sealed: string) => `${sealed}.AAAA`],
    ['with another version', (sealed: string) => sealed.replace('v1', 'v0')],
  ])('%s does not open', (_what, damage) => {
    expect(() => ring.unseal(damage(ring.seal('a secret', binding)), binding)).toThrow(UnsealError);
  });
});

describe('a keyring in rotation', () => {
  const old = createKeyring({ current: OLD, previous: [] });

  it('opens what an older key sealed as long as that key is listed, and calls it stale', () => {
    const sealed = old.seal('x', binding);
    expect(ring.unseal(sealed, binding)).toBe('x');
    expect(ring.isStale(sealed)).toBe(true);
    expect(ring.isStale(ring.seal('x', binding))).toBe(false);
  });

  it('says which key is missing, without a trace of any key', () => {
    const without = createKeyring({ current: randomBytes(32), previous: [] });
    expect(() => without.unseal(old.seal('x', binding), binding)).toThrow(
      /connections\.password of c1.*secret_key_previous/,
    );
  });

  it('without a key seals nothing and opens nothing', () => {
    const empty = createKeyring({ current: null, previous: [] });
    expect(empty.canSeal).toBe(false);
    expect(() => empty.seal('x', binding)).toThrow('no encryption key');
    expect(() => empty.unseal(old.seal('x', binding), binding)).toThrow(UnsealError);
    expect(createKeyring({ current: null, previous: [OLD] }).unseal(old.seal('x', binding), binding)).toBe('x');
  });
});
