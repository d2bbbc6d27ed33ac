import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretSet } from '@svc/spec/masking/secret-set.ts';
import type { SecretSet } from '@svc/spec/masking/secret-set.ts';
import { jsonText } from './arbitrary-json.ts';
import { JsonMasking } from './json-masking.ts';
import { readJson, writeJson } from './json-text.ts';
import { maskLargeJson } from './large-json-masking.ts';
import { readerMask } from './reader-masks.ts';

function secretsOf(...secrets: string[]): SecretSet {
  const set = createSecretSet({ findsHalves: false });
  for (const secret of secrets) set.add(secret);
  return set;
}

const maskOf = (...secrets: string[]) => readerMask(secretsOf(...secrets));

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
  ])('%s', async (json, shown) => {
    expect(await maskOf('s3cr3t-one', '4321876543210')(json)).toBe(shown);
  });

  it('is hidden whole when its own name is sensitive', async () => {
    expect(await maskOf()('{"a":1}', 'db_password')).toBe('"***"');
    expect(await maskOf()('null', 'db_password')).toBe('null');
  });

  it('is untouched to the byte where there is nothing to hide', async () => {
    const mask = maskOf('true', '1', 'success', 'admin');
    expect(await mask('{ "state": "success", "by": "admin", "n": 1.0, "ok": true }')).toBe(
      '{ "state": "success", "by": "admin", "n": 1.0, "ok": true }',
    );
  });

  it('holds no secret, whatever it is made of, and stays JSON', async () => {
    await fc.assert(
      fc.asyncProperty(jsonText, async (json) => {
        const shown = await maskOf('s3cr3t-one')(`{"a":${json},"b":"s3cr3t-one"}`);
        expect(shown).not.toContain('s3cr3t-one');
        JSON.parse(shown);
      }),
    );
  });
});

describe('a large value, piece by piece', () => {
  const small = (text: string): string => {
    const node = readJson(text);
    if (typeof node === 'string') throw new Error(`${node}: ${text}`);
    return writeJson(new JsonMasking(secretsOf('s3cr3t-one')).node(node));
  };
  const inPieces = (text: string, piece: number): Promise<string> =>
    maskLargeJson(text, new JsonMasking(secretsOf('s3cr3t-one')), piece);

  it('is shown as at once, whatever the pieces', async () => {
    const part = fc.constantFrom(
      '"s3cr3t-one"',
      '{"s3cr3t-one":"x"}',
      '{"password":[1,{"a":2}]}',
      '"[\\"s3cr3t-one\\"]"',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(jsonText, part)), fc.integer({ min: 2, max: 60 }), async (items, piece) => {
        for (const text of [`[${items.join(' ,')}]`, `{${items.map((item, n) => `"k${n}" : ${item}`).join()}}`])
          expect(JSON.parse(await inPieces(text, piece))).toEqual(JSON.parse(small(text)));
      }),
    );
  });

  it.each([
    ['a text', JSON.stringify(`${'x '.repeat(100_000)}s3cr3t-one%`)],
    [
      'JSON in a text',
      JSON.stringify(JSON.stringify({ rows: Array(50_000).fill('x'), token: 'abc', more: 's3cr3t-one' })),
    ],
    ['what stands under a name', JSON.stringify({ a: 1, password: Array(50_000).fill('x'), b: { key: 's3cr3t-one' } })],
    ['a list in an object in a list', JSON.stringify([1, { a: [...Array<number>(50_000).fill(1), 's3cr3t-one'] }, 2])],
  ])('%s', async (_what, json) => {
    expect((await maskOf('s3cr3t-one')(json)) === small(json)).toBe(true); // too large to be printed
  });

  it('is untouched to the byte beside what is hidden', async () => {
    const rows = Array<string>(20_000).fill('{ "n": 1.0 }').join(' , ');
    const shown = await maskOf('s3cr3t-one')(`["s3cr3t-one", [ ${rows} ] ]`);
    expect(shown === `["***", [ ${rows} ] ]`).toBe(true);
  });

  it('is hidden as a whole when it is nested too deeply to be looked into', async () => {
    const deep = `${'['.repeat(101)}"s3cr3t-one${'x'.repeat(70_000)}"${']'.repeat(101)}`;
    expect(await maskOf('s3cr3t-one')(deep)).toBe('"***"');
  });
});
