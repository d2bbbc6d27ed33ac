/**
 * What holds for the query of every operation: a parameter that the operation does not have is refused (a misspelt filter
 * that is ignored answers with everything, and looks right), and booleans are written as Airflow's server reads them.
 */
import type { Ajv } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

export const QUERY_BOOLEAN = 'queryBoolean';

/** As Airflow's server (pydantic) reads them, in any letter case. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'on', 't', 'y', 'yes'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'f', 'n', 'no'].map((word) => [word, false] as const),
]);

export function addQueryBoolean(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: QUERY_BOOLEAN,
    modifying: true,
    validate: (_schema: unknown, value: unknown, _parent: unknown, context?: DataValidationCxt) => {
      if (typeof value === 'boolean') return true; // a default
      const read = typeof value === 'string' ? BOOLEANS.get(value.toLowerCase()) : undefined;
      if (read === undefined || context === undefined) return false;
      (context.parentData as Record<string | number, unknown>)[context.parentDataProperty] = read;
      return true;
    },
  });
}

/** The schema of a query as its validator needs it; the document keeps the plain one. */
export function queryRules(schema: object): object {
  return { ...(withQueryBooleans(schema) as object), additionalProperties: false };
}

function withQueryBooleans(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withQueryBooleans);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = schema as Record<string, unknown>;
  if (type === 'boolean') return { ...rest, [QUERY_BOOLEAN]: true };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withQueryBooleans(value)]));
}

/** An operation that declares no query has an empty one. Pages and files are no operations: links to them may carry anything. */
export function declareQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema?.operationId !== undefined) route.schema.querystring ??= Type.Object({});
  });
}
