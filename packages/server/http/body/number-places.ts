/**
 * Decides which numbers of a body keep their digits as written. Where the schema leaves a value open, the value belongs
 * to the author and keeps its digits. Where the schema declares a type, the number becomes one that we compute with:
 * `"slots": 5.0` becomes 5.
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

/** Changes the body in place, unless the body itself is a number. */
export function settleNumbers(body: unknown, schema: unknown): unknown {
  return settle(body, branchesOf(schema as Schema));
}

/** `schemas` contains every schema that may describe this value. It is empty inside an open value. */
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

/** Returns the members of a union, because it is not known yet which of them applies. */
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
