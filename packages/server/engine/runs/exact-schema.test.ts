import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExact } from '@svc/spec/exact-json.ts';
import { integerText } from '@svc/testing/spec/number-text.ts';
import { compareExactly, compileExactly } from './exact-schema.ts';

const ajv = compareExactly(new Ajv2020({ strict: false, allErrors: true }));
const problems = (schema: string, value: string): string[] =>
  compileExactly(
    ajv,
    parseExact(schema) as object,
  )(parseExact(value)).map(({ instancePath, message }) => `${instancePath} ${message}`);

describe('JSON Schema over exact numbers', () => {
  it('knows the limits of integers that doubles cannot tell apart', () => {
    const limits = '{"type":"integer","minimum":9007199254740993,"exclusiveMaximum":9007199254740995}';
    expect(problems(limits, '9007199254740993')).toEqual([]);
    expect(problems(limits, '9007199254740994')).toEqual([]);
    expect(problems(limits, '9007199254740992')).toEqual([' must be >= 9007199254740993']);
    expect(problems(limits, '9007199254740995')).toEqual([' must be < 9007199254740995']);
  });

  it('judges any two integers as integers, at any depth', () => {
    fc.assert(
      fc.property(integerText, integerText, (value, limit) => {
        const schema = `{"properties":{"a":{"items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"type":"integer","maximum":${limit}}}}`;
        expect(problems(schema, `{"a":[0,${value}]}`).some((text) => text.startsWith('/a/1'))).toBe(
          BigInt(value) > BigInt(limit),
        );
      }),
      { numRuns: 25 }, // each compiles a schema
    );
  });

  it('takes 1.0 for an integer, as JSON Schema does, and 1.5 for none', () => {
    expect(problems('{"type":"integer"}', '1.0')).toEqual([]);
    expect(problems('{"type":"integer"}', '1e3')).toEqual([]);
    expect(problems('{"type":"integer"}', '1.50')).toEqual([' must be integer']);
    expect(problems('{"type":"string"}', '12345678901234567890')).toEqual([' must be string']);
    expect(problems('{"type":"object"}', '12345678901234567890')).toEqual([' must be object']);
  });

  it('compares constants and enumerations by value', () => {
    expect(problems('{"const":9007199254740993}', '9007199254740992')).toEqual([' must be equal to constant']);
    expect(problems('{"const":9007199254740993}', '9007199254740993.0')).toEqual([]);
    expect(problems('{"const":1}', '1.0')).toEqual([]);
    expect(problems('{"enum":["a",1.50,9007199254740993]}', '1.5')).toEqual([]);
    expect(problems('{"enum":["a",9007199254740993]}', '9007199254740992')).toHaveLength(1);
    expect(problems('{"enum":["a",null,[1]]}', '"a"')).toEqual([]);
    expect(problems('{"enum":["a",null,[1]]}', '[1]')).toEqual([]);
    expect(problems('{"enum":["a",null,[1]]}', '"b"')).toHaveLength(1);
  });

  it('finds multiples where doubles would not', () => {
    expect(problems('{"multipleOf":0.1}', '0.3')).toEqual([]);
    expect(problems('{"multipleOf":2}', '9007199254740993')).toEqual([' must be multiple of 2']);
  });
});
