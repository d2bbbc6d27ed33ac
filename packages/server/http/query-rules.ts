/**
 * Rules for the query of every operation. A parameter that the operation does not have is refused: if a misspelt filter
 * were ignored, the answer would contain everything and look right. Booleans are read as Airflow's server reads them.
 */
import type { Ajv } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

export const QUERY_BOOLEAN = 'queryBoolean';

/** Spellings that Airflow's server (pydantic) accepts, in any letter case. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'on', 't', 'y', 'yes'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'f', 'n', 'no'].map((word) => [word, false] as const),
]);

export function addQueryBoolean(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: QUERY_BOOLEAN,
    modifying: true,
    validate: (_schema: unknown, value: unknown, _parent: unknown, context?: DataValidationCxt) => {
      if (typeof value === 'boolean') return true; // the value is a default
      const read = typeof value === 'string' ? BOOLEANS.get(value.toLowerCase()) : undefined;
      if (read === undefined || context === undefined) return false;
      (context.parentData as Record<string | number, unknown>)[context.parentDataProperty] = read;
      return true;
    },
  });
}

/** The schema of a query as its validator needs it. The document keeps the plain schema. */
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

/**
 * Gives an empty query to an operation that declares none. Pages and files are not operations, so links to them may
 * have any query.
 */
export function declareQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.schema?.operationId !== undefined) route.schema.querystring ??= Type.Object({});
  });
}
