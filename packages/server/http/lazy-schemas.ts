/**
 * Compiles the schemas of a route at its first request. At boot, the validators and serialisers of all operations take
 * most of the start (`npm run bench -- lite`), and most processes serve few of them.
 */
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';

type Compile = (route: Parameters<FastifySchemaCompiler<object>>[0]) => ValidateFunction;

export function lazyValidator(compile: Compile): FastifySchemaCompiler<object> {
  return (route) => {
    let compiled: ValidateFunction | undefined;
    const validate = (data: unknown): boolean => {
      compiled ??= compile(route);
      const isValid = compiled(data);
      validate.errors = compiled.errors ?? null; // Fastify reads the errors from here
      return isValid;
    };
    validate.errors = null as ErrorObject[] | null;
    return validate;
  };
}

export function createSerializerCompiler(): FastifySerializerCompiler<object> {
  const compile = SerializerSelector()({}, {}) as FastifySerializerCompiler<object>;
  // Many routes answer with the same schema.
  const known = new WeakMap<object, (data: unknown) => string>();
  return (route) => {
    const { schema } = route;
    return (data) => {
      const serialise = known.get(schema) ?? compile({ ...route, schema: withNullable(schema) });
      known.set(schema, serialise);
      return serialise(data);
    };
  };
}

/**
 * Rewrites a union of a schema and null as one schema that may be null. For a union, the serialiser asks a validator
 * which member each value matches, for every value of an answer.
 */
export function withNullable<Schema>(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map((item: unknown) => withNullable(item)) as Schema;
  if (typeof schema !== 'object' || schema === null) return schema;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withNullable(value as unknown)]),
  );
  if (anyOf === undefined) return rest as Schema;
  const [first, second, ...more] = anyOf as { type?: unknown }[];
  const member = [first, second].find((one) => one?.type !== 'null');
  const isNullable = more.length === 0 && (first?.type === 'null') !== (second?.type === 'null');
  if (!isNullable || typeof member?.type !== 'string') return { ...rest, anyOf } as Schema;
  return { ...member, ...rest, nullable: true } as Schema;
}
