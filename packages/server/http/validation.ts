/**
 * Validation of requests. Query strings and paths are text, so numbers and booleans in them are converted. Bodies are
 * JSON and are taken literally: null is not an empty string, and "5" is not 5. A null that is converted would clear a
 * stored field.
 */
import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import { isRawNumber } from '@svc/spec/exact-json.ts';
import { UUID } from '@svc/spec/ids.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { ApiError } from './errors.ts';
import { lazyValidator } from './lazy-schemas.ts';
import { NO_FOLDER } from './schemas.ts';
import { QUERY_BOOLEAN, addQueryBoolean, queryRules } from './query-rules.ts';
import { describeUnknown } from './unknown-names.ts';

export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  // With `discriminator`, the validator checks only the branch of a union that the tag names. The error then describes
  // that branch.
  const options = {
    useDefaults: true,
    allErrors: false,
    strict: false,
    verbose: true,
    discriminator: true,
    validateSchema: false,
  } as const;
  const exact = new Ajv({ ...options });
  const converting = new Ajv({ ...options, coerceTypes: 'array' });
  for (const ajv of [exact, converting]) {
    addFormats.default(ajv);
    for (const [name, format] of Object.entries(STORABLE_FORMATS)) ajv.addFormat(name, format);
  }
  addQueryBoolean(converting);
  return lazyValidator(({ schema, httpPart }) => {
    if (httpPart === 'querystring') return converting.compile(queryRules(schema));
    return (httpPart === 'body' ? exact : converting).compile(schema);
  });
}

/**
 * Stricter than the formats of the library, which accept texts that `Date` or Postgres cannot read: 23:59:60,
 * urn:uuid:…
 */
const STORABLE_FORMATS = {
  'date-time': isDateTime,
  uuid: UUID,
};

export function isDateTime(text: string): boolean {
  // Postgres refuses offsets of sixteen hours and more.
  const [, day] = /^(\d{4}-\d\d-\d\d)[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-5]):?\d\d)$/i.exec(text) ?? [];
  if (day === undefined) return false;
  const year = new Date(text).getUTCFullYear();
  if (!(year >= 1 && year <= 9_999)) return false; // also false for an invalid date
  // `Date` reads 30 February as a day in March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

const WORD_OF_PART: Record<string, string> = { querystring: 'query parameter' };

/** Returns one sentence that names the field, the sent value and what is allowed. */
export function describeValidationError(errors: FastifySchemaValidationError[], part: string): ApiError {
  const error = errors[0] as (FastifySchemaValidationError & Partial<ErrorObject>) | undefined;
  if (!error) return new ApiError('invalid_request', `${part} is not valid`);
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const field = path || (part === 'body' ? 'the body' : part);
  return new ApiError('invalid_request', sentence(error, { field, path, part }));
}

function sentence(
  error: FastifySchemaValidationError & Partial<ErrorObject>,
  { field, path, part }: { field: string; path: string; part: string },
): string {
  const params = error.params as Record<string, unknown>;
  const inside = path ? ` in ${path}` : '';
  const got = isSensitiveName(path) ? nameOfType(error.data) : show(error.data);
  switch (error.keyword) {
    case 'required':
      return `${WORD_OF_PART[part] ?? 'field'} "${String(params['missingProperty'])}" is required${inside}`;
    case 'additionalProperties':
      return describeUnknown({
        word: WORD_OF_PART[part] ?? 'field',
        sent: Object.keys((error.data ?? {}) as object),
        known: Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {}),
        inside,
      });
    case 'type':
      return `${field} must be ${[params['type']].flat().join(' or ')}, got ${nameOfType(error.data)}`;
    case QUERY_BOOLEAN:
      return `${field} must be true or false, got ${got}`;
    case 'enum':
      return `${field} must be one of ${(params['allowedValues'] as unknown[]).join(', ')}, got ${got}`;
    case 'minimum':
    case 'maximum':
      return `${field} must be ${String(params['comparison'])} ${String(params['limit'])}, got ${got}`;
    case 'minLength':
      return `${field} must have at least ${String(params['limit'])} character(s)`;
    case 'maxLength':
      return `${field} must have at most ${String(params['limit'])} characters`;
    case 'pattern': {
      if (params['pattern'] === NO_FOLDER) return `${field} must not be "." or "..", which mean folders in a URL`;
      const { title } = (error.parentSchema ?? {}) as { title?: string };
      return title ? `${field} must be a valid ${title}` : `${field} must match ${String(params['pattern'])}`;
    }
    case 'format':
      return `${field} must be a valid ${String(params['format'])}, got ${got}`;
    default:
      return `${field} ${error.message ?? 'is not valid'}`;
  }
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  if (isRawNumber(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Repeats only numbers and short words, because a refused value may be a secret in the wrong field. */
const show = (value: unknown): string =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= 40)
    ? JSON.stringify(value)
    : nameOfType(value);
