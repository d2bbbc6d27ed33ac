import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { jsonObjectText, jsonText } from './arbitrary-json.ts';
import { readJson } from './json-text.ts';
import { MASK, maskExtra, maskVariable, secretsIn } from './mask.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';

const CANARY = 'canary-4f1d';

const isHidden = ([key, inner]: [string, unknown]) => isSensitiveName(key) && inner !== null && inner !== '';

/** The same in plain JavaScript, on parsed values: an independent judge of what the mask must have done. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map((entry) => [entry[0], isHidden(entry) ? MASK : masked(entry[1])]),
  );
}

describe('the mask of an extra', () => {
  test('hides exactly the values under sensitive names, at any depth', () => {
    fc.assert(
      fc.property(jsonObjectText, (text) => {
        expect(JSON.parse(maskExtra(text))).toEqual(masked(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  test('shows nothing of a secret, whatever surrounds it', () => {
    const wrapped = fc
      .tuple(jsonText, fc.constantFrom('password', 'API-Key', 'x_token', 'client_secret'))
      .map(
        ([before, name]) =>
          `{"a":${before},"b":[0,{"${name}":["${CANARY}",{"c":"${CANARY}"}]}],"${name}2":"${CANARY}"}`,
      );
    fc.assert(
      fc.property(wrapped, (text) => {
        expect(maskExtra(text)).not.toContain(CANARY);
      }),
    );
  });

  test.each([
    ['a plain string', 'AKIA123'],
    ['a JSON array', '[{"host":"x"}]'],
    ['a JSON string', '"word"'],
    ['a number', '5'],
    ['broken JSON', '{"host":"x"'],
    ['blanks', '  '],
    ['JSON nested too deeply to look into', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
  ])('masks %s whole', (_what, extra) => {
    expect(maskExtra(extra)).toBe(MASK);
  });

  it('masks a secret that hides behind an escape or a second equal key', () => {
    expect(maskExtra(String.raw`{"pass\u0077ord":"${CANARY}"}`)).toBe('{"password":"***"}');
    expect(maskExtra(`{"password":"${CANARY}","password":""}`)).toBe('{"password":"***","password":""}');
  });

  it('masks values of every type, but tells that there is none', () => {
    expect(maskExtra('{"token":1,"secret":true,"password":{"a":1},"api_key":[1],"keyfile":"","passwd":null}')).toBe(
      '{"token":"***","secret":"***","password":"***","api_key":"***","keyfile":"","passwd":null}',
    );
  });

  it('leaves numbers as they were written', () => {
    expect(maskExtra('{"id": 12345678901234567890, "rate": 1.0, "token": "x"}')).toBe(
      '{"id":12345678901234567890,"rate":1.0,"token":"***"}',
    );
  });
});

describe('the mask of a variable', () => {
  test.each([
    ['db_password', 'x', MASK],
    ['db_password', '', ''],
    ['plain', '***', '***'],
    ['plain', '{ "a": 1.0 }', '{ "a": 1.0 }'],
    ['plain', '{ "a": 1.0, "token": "x" }', '{"a":1.0,"token":"***"}'],
    ['plain', '[{"token":"x"}]', '[{"token":"***"}]'],
    ['plain', '{"token":', '{"token":'],
    ['plain', '{"password":"x","password":""}', '{"password":"***","password":""}'],
  ])('%s = %s is shown as %s', (key, value, shown) => {
    expect(maskVariable(key, value)).toBe(shown);
  });

  test('without sensitive names the text is returned byte for byte', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        fc.pre(!isSensitiveName(text));
        expect(maskVariable('plain', text)).toBe(text);
      }),
    );
  });
});

test('what a log must not carry: strings and long numbers under sensitive names, not masks and short numbers', () => {
  const node = readJson(
    '{"host":"h","token":"t1","auth":[{"password":{"a":"t2","b":["t3",1234567,8080,true,null,""]}}],"secret":"***"}',
  );
  if (typeof node === 'string') throw new Error(node);
  expect(secretsIn(node)).toEqual(['t1', 't2', 't3', '1234567']);
});
