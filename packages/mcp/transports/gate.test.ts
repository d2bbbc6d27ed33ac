import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopback } from '../loopback.ts';
import { bearerOf, refuseByOrigin } from './gate.ts';

const refused = (headers: Record<string, string>, localAddress = '127.0.0.1') =>
  refuseByOrigin({ headers, socket: { localAddress } as never })?.status;

describe('a request over the loopback interface', () => {
  it.each(['localhost', 'localhost:9099', '127.0.0.1:9099', '127.1.2.3', '[::1]:9099', 'LOCALHOST'])(
    'may call it %s',
    (host) => {
      expect(refused({ host })).toBeUndefined();
      expect(refused({ host }, '::ffff:127.0.0.1')).toBeUndefined();
      expect(refused({ host }, '::1')).toBeUndefined();
    },
  );

  it.each(['evil.example', 'localhost.evil.example', '10.0.0.1', '127.0.0.1.evil.example', 'evil.example:9099'])(
    'may not reach it by another name, which could have been made to point here: %s',
    (host) => {
      expect(refused({ host })).toBe(403);
      expect(refused({ host }, '::ffff:127.0.0.1')).toBe(403);
    },
  );
});

it('over the network any name is good, but a page of another origin is not', () => {
  expect(refused({ host: 'mcp.internal:9099' }, '10.0.0.5')).toBeUndefined();
  expect(refused({ host: 'mcp.internal:9099', origin: 'http://mcp.internal:9099' }, '10.0.0.5')).toBe(403);
});

it.each([
  'https://evil.example',
  'http://127.0.0.1.evil.example',
  'null',
  '',
  'http://[::1',
  'file://',
  'http://10.0.0.1',
])('Origin %s is refused', (origin) => {
  expect(refused({ host: 'localhost', origin })).toBe(403);
});

it.each(['http://localhost:6274', 'http://127.0.0.1', 'https://[::1]:1'])('Origin %s is on this machine', (origin) => {
  expect(refused({ host: 'localhost', origin })).toBeUndefined();
});

it('a Host that is none is refused', () => {
  for (const host of ['', 'a b', 'x/y', 'x@y', 'a:b:c', '[zz]']) expect(refused({ host })).toBe(400);
  expect(refused({})).toBe(400);
});

it('only real loopback addresses are loopback', () => {
  for (const host of ['127.0.0.1', '[::1]', '::1', '::ffff:127.9.9.9', 'localhost'])
    expect(isLoopback(host)).toBe(true);
  for (const host of ['', '0.0.0.0', '127.example', '128.0.0.1', '::', '::2', 'localhost.', '127.0.0.1.nip.io'])
    expect(isLoopback(host)).toBe(false);
});

describe('the bearer', () => {
  const of = (...values: string[]) =>
    bearerOf({ rawHeaders: ['Host', 'authorization', ...values.flatMap((value) => ['AUTHORIZATION', value])] });

  it('is the token of the one Authorization header', () => {
    expect(of('Bearer abc.DEF-_~+/=')).toEqual({ token: 'abc.DEF-_~+/=' });
    expect(of('bearer  abc ')).toEqual({ token: 'abc' });
  });

  it('is missing, another scheme, empty or not a token: 401', () => {
    for (const values of [[], ['Basic abc'], ['Bearer'], ['Bearer '], ['Bearer a b'], ['abc'], ['Bearer a,b'], ['']])
      expect(of(...values)).toMatchObject({ status: 401 });
    expect(of(`Bearer ${'x'.repeat(9_000)}`)).toMatchObject({ status: 401 });
  });

  it('given twice is refused, because it could be two identities', () => {
    expect(of('Bearer a', 'Bearer b')).toMatchObject({ status: 400 });
  });

  it('has no character that could end a header', () => {
    const part = fc.constantFrom('a', 'Z', '=', '.', '\r', '\n', ' ', ',', '\u00e9', '\u0000', '"');
    let tokens = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const bearer = of(`Bearer ${parts.join('')}`);
        if (!('token' in bearer)) return;
        tokens += 1;
        expect(bearer.token).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
    expect(tokens).toBeGreaterThan(0);
  });
});
