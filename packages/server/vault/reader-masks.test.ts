import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretSet } from '@svc/spec/masking/secret-set.ts';
import { jsonText } from './arbitrary-json.ts';
import { readerMask } from './reader-masks.ts';

function maskOf(...secrets: string[]) {
  const set = createSecretSet({ findsHalves: false });
  for (const secret of secrets) set.add(secret);
  return readerMask(set);
}

describe('a value for who may only read', () => {
  it.each([
    ['{"a":"x s3cr3t-one y"}', '{"a":"x *** y"}'],
    ['{"s3cr3t-one":1}', '{"***":1}'],
    ['"s3cr3t-one"', '"***"'],
    ['[1,["s3cr3t-one"]]', '[1,["***"]]'],
    ['{"a":"s3cr3t%2Done"}', '{"a":"***"}'],
    ['{"a":"\\u00733cr3t-one"}', '{"a":"***"}'],
    ['{"pass\\u0077ord":"x"}', '{"password":"***"}'],
    ['{"password":"x","token":null,"secret":""}', '{"password":"***","token":null,"secret":""}'],
    ['{"extra":"{\\"token\\":\\"x\\"}"}', '{"extra":"{\\"token\\":\\"***\\"}"}'],
    ['{"n":4321876543210}', '{"n":"***"}'],
  ])('%s', (json, shown) => {
    expect(maskOf('s3cr3t-one', '4321876543210')(json)).toBe(shown);
  });

  it('is hidden whole when its own name is sensitive', () => {
    expect(maskOf()('{"a":1}', 'db_password')).toBe('"***"');
    expect(maskOf()('null', 'db_password')).toBe('null');
  });

  it('is untouched to the byte where there is nothing to hide', () => {
    const mask = maskOf('true', '1', 'success', 'admin');
    expect(mask('{ "state": "success", "by": "admin", "n": 1.0, "ok": true }')).toBe(
      '{ "state": "success", "by": "admin", "n": 1.0, "ok": true }',
    );
  });

  it('holds no secret, whatever it is made of, and stays JSON', () => {
    fc.assert(
      fc.property(jsonText, (json) => {
        const shown = maskOf('s3cr3t-one')(`{"a":${json},"b":"s3cr3t-one"}`);
        expect(shown).not.toContain('s3cr3t-one');
        JSON.parse(shown);
      }),
    );
  });
});
