import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSecretKey, readSecretKeys } from './secret-key.ts';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));

describe('parseSecretKey', () => {
  test('every 32-byte key is read the same from hex, base64 and base64url, padded or not', () => {
    fc.assert(
      fc.property(bytes, (key) => {
        const base64 = key.toString('base64');
        const forms = [
          key.toString('hex'),
          key.toString('hex').toUpperCase(),
          base64,
          base64.replace('=', ''),
          key.toString('base64url'),
        ];
        for (const form of forms) {
          expect(parseSecretKey(form)).toEqual({ ok: true, key });
        }
      }),
    );
  });

  test('32 ASCII characters are the key itself, even when they look like hex', () => {
    for (const text of ['0123456789abcdef0123456789abcdef', 'correct horse battery staple, ok?'.slice(0, 32)]) {
      expect(parseSecretKey(text)).toEqual({ ok: true, key: Buffer.from(text) });
    }
  });

  test('the line break of a mounted file is ignored', () => {
    const key = Buffer.alloc(32, 7);
    expect(parseSecretKey(`${key.toString('hex')}\n`)).toEqual({ ok: true, key });
    expect(parseSecretKey(`${'k'.repeat(32)}\r\n`)).toEqual({ ok: true, key: Buffer.from('k'.repeat(32)) });
  });

  test.each([
    ['', 'it has 0 characters'],
    ['k'.repeat(31), 'it has 31 characters'],
    ['k'.repeat(33), 'it has 33 characters'],
    ['g'.repeat(64), 'it has 64 characters, but not all of them are hex digits'],
    ['ü'.repeat(32), 'it has 32 characters but 64 bytes, because some are not ASCII'],
    [Buffer.alloc(31).toString('base64'), 'it has 44 characters'],
    [Buffer.alloc(33).toString('base64'), 'it has 44 characters'],
  ])('refuses %j', (text, reason) => {
    expect(parseSecretKey(text)).toEqual({
      ok: false,
      error: `${reason}; give 32 characters, 64 hex digits, or the base64 of 32 bytes (openssl rand -hex 32)`,
    });
  });

  test('whatever is accepted has 32 bytes, and no error repeats the key', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 80 }), (text) => {
        const parsed = parseSecretKey(text);
        expect(parsed.ok ? parsed.key.length === 32 : !parsed.error.includes(text)).toBe(true);
      }),
    );
  });
});

function hex(fill: number): string {
  return Buffer.alloc(32, fill).toString('hex');
}

describe('readSecretKeys', () => {
  test('an empty key is none and no problem', () => {
    expect(readSecretKeys({ secretKey: '', secretKeyPrevious: '' })).toEqual({
      keys: { current: undefined, previous: [] },
      problems: [],
    });
  });

  test('previous keys come in order, in mixed forms', () => {
    const { keys, problems } = readSecretKeys({
      secretKey: hex(1),
      secretKeyPrevious: `${hex(2)}, ${'k'.repeat(32)},`,
    });
    expect(problems).toEqual([]);
    expect(keys).toEqual({
      current: Buffer.alloc(32, 1),
      previous: [Buffer.alloc(32, 2), Buffer.from('k'.repeat(32))],
    });
  });

  test('a single raw previous key may contain a comma', () => {
    const raw = 'k,'.repeat(16);
    expect(readSecretKeys({ secretKey: '', secretKeyPrevious: raw }).keys.previous).toEqual([Buffer.from(raw)]);
  });

  test('each bad entry is named by its place', () => {
    const { problems } = readSecretKeys({ secretKey: 'x', secretKeyPrevious: `${hex(2)},y` });
    expect(problems.map(({ key, error }) => [key, error.split(';')[0]])).toEqual([
      ['secret_key', 'it has 1 characters'],
      ['secret_key_previous', 'entry 2: it has 1 characters'],
    ]);
  });
});
