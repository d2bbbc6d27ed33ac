/**
 * Which numbers of a body are kept as they were written. Where its schema leaves a value open, it is the author's, and keeps
 * its digits; where the schema says what is wanted, a number is one we compute with: `"slots": 5.0` is 5.
 */
import { isRawNumber, nearestNumber } from '@svc/spec/exact-json.ts';

type Schema = {
  type?: unknown;
  const?: unknown;
  enum?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
};

/** Changes the body in place, but for one that is itself a number. */
export function settleNumbers(body: unknown, schema: unknown): unknown {
  return settle(body, branchesOf(schema as Schema));
}

/** `schemas`: all that may speak of this value; none when it lies within an open one. */
function settle(value: unknown, schemas: readonly Schema[]): unknown {
  if (isRawNumber(value)) return schemas.length === 0 || schemas.some(isOpen) ? value : nearestNumber(value);
  if (typeof value !== 'object' || value === null || schemas.length === 0) return value;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const inner = schemas.flatMap((schema) => memberSchemas(schema, key, Array.isArray(value)));
    members[key] = settle(members[key], inner);
  }
  return value;
}

const isOpen = ({ type, const: constant, enum: words }: Schema): boolean =>
  type === undefined && constant === undefined && words === undefined;

/** A union as its members: which of them is meant is not known yet. */
function branchesOf(schema: Schema): Schema[] {
  const { anyOf, oneOf, allOf } = schema;
  const parts = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])];
  return parts.length === 0 ? [schema] : parts.flatMap(branchesOf);
}

function memberSchemas(schema: Schema, key: string, isArray: boolean): Schema[] {
  if (isArray) return schema.items === undefined ? [] : branchesOf(schema.items);
  const own = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  if (own) return branchesOf(own);
  const patterns = Object.entries(schema.patternProperties ?? {}).filter(([pattern]) => new RegExp(pattern).test(key));
  const rest = schema.additionalProperties;
  return [...patterns.map(([, member]) => member), ...(typeof rest === 'object' ? [rest] : [])].flatMap(branchesOf);
}
