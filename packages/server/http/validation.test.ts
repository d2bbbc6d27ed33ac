import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createValidatorCompiler, describeValidationError } from './validation.ts';

const compile = createValidatorCompiler();

/** The sentence a caller reads, or undefined when the value is fine. */
function complaint(schema: TSchema, value: unknown, httpPart: 'body' | 'querystring' = 'body'): string | undefined {
  const validate = compile({ schema, httpPart, method: 'POST', url: '/' }) as ((value: unknown) => boolean) & {
    errors?: Parameters<typeof describeValidationError>[0] | null;
  };
  return validate(value) ? undefined : describeValidationError(validate.errors ?? [], httpPart).message;
}

describe('a date-time in a request', () => {
  const at = (text: string) => complaint(Type.Object({ at: Type.String({ format: 'date-time' }) }), { at: text });

  it.each([
    '2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05.123456Z',
    '2026-01-02T03:04:05+02:00',
    '2026-01-02T03:04:05-0230',
    '2026-01-02t03:04:05z',
    '2026-01-02 03:04:05Z',
    '2024-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ])('may be %s, and Date reads it', (text) => {
    expect(at(text)).toBeUndefined();
    expect(Number.isNaN(new Date(text).getTime())).toBe(false);
  });

  it.each([
    '2016-12-31T23:59:60Z',
    '2021-02-29T00:00:00Z',
    '2021-13-01T00:00:00Z',
    '2021-01-01T25:00:00Z',
    '2021-01-01T00:00:00',
    '2021-01-01T00:00:00+05',
    '2021-01-01T00:00:00+99:99',
    '2021-01-01',
    '+010000-01-01T00:00:00Z',
    // Postgres has no such year, and no such offset.
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '2021-01-01T00:00:00+16:00',
    'now',
    '',
  ])('must not be %j', (text) => {
    expect(at(text)).toMatch(/^at must be a valid date-time, got /);
  });
});

describe('a uuid in a request', () => {
  const id = (text: string) => complaint(Type.Object({ id: Type.String({ format: 'uuid' }) }), { id: text });

  it('may be written in either case', () => {
    expect(id('7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01')).toBeUndefined();
    expect(id('7D3A3C1E-5A3D-4B53-9C7E-6D7A1C8E2F01')).toBeUndefined();
  });

  it.each([
    'urn:uuid:7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01',
    '{7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01}',
    '7d3a3c1e5a3d4b539c7e6d7a1c8e2f01',
    '7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01\n',
  ])('must not be %j, which Postgres may read and we do not compare', (text) => {
    expect(id(text)).toMatch(/^id must be a valid uuid/);
  });
});

describe('values of a request', () => {
  it('in a body mean what they say: nothing is converted', () => {
    expect(complaint(Type.Object({ n: Type.Integer() }), { n: '5' })).toBe('n must be integer, got string');
    expect(complaint(Type.Object({ s: Type.String() }), { s: null })).toBe('s must be string, got null');
    expect(complaint(Type.Object({ b: Type.Boolean() }), { b: 'true' })).toBe('b must be boolean, got string');
    expect(complaint(Type.Object({ a: Type.Array(Type.String()) }), { a: 'x' })).toBe('a must be array, got string');
  });

  it('in a query are text, and become what the schema says', () => {
    const value: Record<string, unknown> = { n: '5', b: 'true', a: 'x' };
    const schema = Type.Object({ n: Type.Integer(), b: Type.Boolean(), a: Type.Array(Type.String()) });
    expect(complaint(schema, value, 'querystring')).toBeUndefined();
    expect(value).toEqual({ n: 5, b: true, a: ['x'] });
  });

  it('in a query are true and false in every spelling that Airflow reads', () => {
    const read = (text: string, schema: TSchema = Type.Boolean()) => {
      const value: Record<string, unknown> = { b: text };
      const wrong = complaint(Type.Object({ b: schema }), value, 'querystring');
      return wrong ?? value['b'];
    };
    for (const text of ['true', 'True', 'TRUE', '1', 'on', 'ON', 't', 'T', 'y', 'Y', 'yes', 'Yes'])
      expect([text, read(text)]).toEqual([text, true]);
    for (const text of ['false', 'False', 'FALSE', '0', 'off', 'Off', 'f', 'F', 'n', 'N', 'no', 'NO'])
      expect([text, read(text, Type.Optional(Type.Boolean()))]).toEqual([text, false]);
    for (const text of ['', '2', 'maybe', ' true', 'null', 'truee', '01', 'constructor'])
      expect(read(text)).toBe(`b must be true or false, got ${JSON.stringify(text)}`);
    const withDefault: Record<string, unknown> = {};
    expect(complaint(Type.Object({ b: Type.Boolean({ default: false }) }), withDefault, 'querystring')).toBeUndefined();
    expect(withDefault).toEqual({ b: false });
  });

  it('are not coerced out of nothing', () => {
    for (const n of ['', 'NaN', '1.5', '1e', 'null'])
      expect(complaint(Type.Object({ n: Type.Integer() }), { n }, 'querystring')).toContain('n must be integer');
  });
});

describe('the message of a validation error', () => {
  it('names the field and what is allowed', () => {
    expect(complaint(Type.Object({ a: Type.String() }), {})).toBe('field "a" is required');
    expect(complaint(Type.Object({ a: Type.Object({ b: Type.String() }) }), { a: {} })).toBe(
      'field "b" is required in a',
    );
    expect(complaint(Type.Object({ n: Type.Integer({ maximum: 10 }) }), { n: 11 })).toBe('n must be <= 10, got 11');
    expect(complaint(Type.Object({ e: Type.Enum(['x', 'y']) }), { e: 'z' })).toBe('e must be one of x, y, got "z"');
    expect(complaint(Type.Object({ p: Type.String({ pattern: '^x' }) }), { p: 'y' })).toBe('p must match ^x');
    expect(complaint(Type.Object({ p: Type.String({ pattern: '^x', title: 'word' }) }), { p: 'y' })).toBe(
      'p must be a valid word',
    );
    expect(complaint(Type.Object({}), [])).toBe('the body must be object, got array');
  });

  it('guesses what an unknown field was meant to be', () => {
    const closed = Type.Object({ password: Type.String(), email: Type.String() }, { additionalProperties: false });
    const sent = { password: 'x', email: 'y' };
    expect(complaint(closed, { ...sent, emial: 'x' })).toBe(
      'unknown field "emial" (did you mean "email"?); known fields: password, email',
    );
    expect(complaint(closed, { ...sent, other: 'x' })).toBe('unknown field "other"; known fields: password, email');
    expect(complaint(closed, { ...sent, Email: 'x', passwort: 'y' })).toBe(
      'unknown fields "Email" (did you mean "email"?), "passwort" (did you mean "password"?); known fields: password, email',
    );
  });

  it('does not guess what shares hardly a letter with the name', () => {
    const closed = Type.Object({ id: Type.String(), name: Type.String() }, { additionalProperties: false });
    for (const name of ['x', 'note', 'no', 'nota'])
      expect(complaint(closed, { id: '1', name: '2', [name]: 'x' })).toBe(
        `unknown field "${name}"; known fields: id, name`,
      );
  });

  it('names every query parameter that there is not, and what there is', () => {
    const query = Type.Object({ limit: Type.Optional(Type.Integer()), paused: Type.Optional(Type.Boolean()) });
    expect(complaint(query, { limt: '1', x: '' }, 'querystring')).toBe(
      'unknown query parameters "limt" (did you mean "limit"?), "x"; known query parameters: limit, paused',
    );
    expect(complaint(Type.Object({}), { x: '1' }, 'querystring')).toBe(
      'unknown query parameter "x"; there are no query parameters here',
    );
    expect(complaint(Type.Object({ at: Type.String() }), {}, 'querystring')).toBe('query parameter "at" is required');
  });

  it('never repeats a value that may be a secret', () => {
    const secret = 'hunter2';
    const schema = Type.Object({
      password: Type.String({ format: 'uuid' }),
      api_key: Type.Enum(['x']),
      nested: Type.Object({ client_secret: Type.String({ format: 'date-time' }) }),
      number: Type.Integer(),
    });
    const good = {
      password: '7d3a3c1e-5a3d-4b53-9c7e-6d7a1c8e2f01',
      api_key: 'x',
      nested: { client_secret: '2026-01-02T03:04:05Z' },
      number: 1,
    };
    expect(complaint(schema, good)).toBeUndefined();
    for (const change of [
      { password: secret },
      { password: [secret] },
      { api_key: secret },
      { nested: { client_secret: secret } },
      { number: secret },
      { number: { secret } },
    ]) {
      const text = complaint(schema, { ...good, ...change });
      expect(text).toBeDefined();
      expect(text).not.toContain(secret);
    }
  });

  it('stays short, however long the value is', () => {
    const schema = Type.Object({ e: Type.Enum(['x']) }, { additionalProperties: false });
    expect(complaint(schema, { e: 'y'.repeat(10_000) })?.length).toBeLessThan(200);
    expect(complaint(schema, { e: 'x', ['k'.repeat(10_000)]: 1 })?.length).toBeLessThan(300);
  });
});
