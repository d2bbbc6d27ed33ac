import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { parseExact } from './exact-json.ts';
import { canonicalBytes, canonicalHash, canonicalJson } from './canonical.ts';

const PYTHON = resolve(import.meta.dirname, '../../python');

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n) || Math.abs(n) < 2 ** 53),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string({ unit: 'binary' }), tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('canonical JSON', () => {
  it('does not depend on the order in which keys were set', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.integer()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
      }),
    );
  });

  it('means the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is the same bytes that the Python compiler writes, for any value', async () => {
    const values = fc.sample(json, { numRuns: 1_500, seed: 7 });
    values.push([
      1e21,
      1e-7,
      1.5e300,
      5e-324,
      -0,
      0.1 + 0.2,
      '\u{1f600}',
      '\ud800',
      '\u2028',
      { '\uff5e': 1, '\u{1f600}': 2 },
      parseExact(
        '[1.0, -0.0, 1e+21, 9007199254740993, -12345678901234567890, 100000000000000000000, 100000000000000000000.0, 5e-324]',
      ),
    ]);
    const program = [
      'import json, sys',
      'from svc_runtime.compile.canonical import canonical_bytes',
      'for line in sys.stdin:',
      '    sys.stdout.buffer.write(canonical_bytes(json.loads(line)) + b"\\n")',
    ].join('\n');
    const result = spawnSync(await pythonEnvironment(), ['-c', program], {
      input: values.map((value) => JSON.stringify(value)).join('\n'),
      env: { ...process.env, PYTHONPATH: PYTHON },
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(result.stderr.toString()).toBe('');
    const lines = result.stdout.toString('utf8').split('\n').slice(0, -1);
    expect(lines).toEqual(values.map((value) => canonicalJson(value)));
  });

  it('keeps the digits that an author wrote', () => {
    const text = '{"big":9007199254740993,"float":1.0,"round":100000000000000000000,"small":-0.0,"zeros":1.50}';
    expect(canonicalJson(parseExact(text))).toBe(text);
  });

  it('refuses what JSON cannot say exactly instead of writing something close', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, 1n]) {
      expect(() => canonicalJson(value)).toThrow(TypeError);
    }
  });

  it('hashes the UTF-8 bytes', () => {
    expect(new TextDecoder().decode(canonicalBytes({ b: 1, a: 'ä' }))).toBe('{"a":"ä","b":1}');
    // sha256 of `{}`
    expect(canonicalHash({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});
