import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { createSerializerCompiler, withNullable } from './lazy-schemas.ts';
import { DateTime, Nullable } from './schemas.ts';

const serialise = (schema: object, value: unknown): unknown => {
  const compile = createSerializerCompiler();
  return JSON.parse(compile({ schema, method: 'GET', url: '/', httpStatus: '200' })(value)) as unknown;
};

const Answer = Type.Object({
  at: Nullable(DateTime),
  name: Nullable(Type.String()),
  count: Type.Optional(Nullable(Type.Integer())),
  is: Nullable(Type.Boolean()),
  inner: Nullable(Type.Object({ at: Nullable(DateTime) })),
  list: Nullable(Type.Array(Nullable(Type.String()))),
  either: Type.Union([Type.Integer(), Type.String(), Type.Null()]),
  any: Nullable(Type.Unknown()),
});

it('an answer’s field that may be null is written as it is, and so is null', () => {
  const full = {
    at: '2024-05-01T10:20:30.123456Z',
    name: 'a "b"',
    count: 3,
    is: false,
    inner: { at: null },
    list: ['x', null],
    either: 'y',
    any: { deep: [1, null] },
  };
  expect(serialise(Answer, full)).toEqual(full);
  const empty = { at: null, name: null, is: null, inner: null, list: null, either: null, any: null };
  expect(serialise(Answer, empty)).toEqual(empty);
  expect(serialise(Answer, { ...empty, count: null })).toEqual({ ...empty, count: null });
});

it('to serialise an answer, only a union of one typed schema with null needs no validator', () => {
  const text = JSON.stringify(withNullable(Answer));
  expect(text.match(/anyOf/g)).toHaveLength(2); // `either`, and `any`, which says nothing about its type
  expect(withNullable(Nullable(DateTime))).toEqual({ type: 'string', format: 'date-time', nullable: true });
});
