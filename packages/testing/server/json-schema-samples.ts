/** Values that fit a JSON schema, for tests that must reach an operation without knowing it. */
import fc from 'fast-check';

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  writeOnly?: boolean;
};

export type SampleOptions = {
  resolve(reference: string): JsonSchema;
  /** The value for a property of this name, where the test has one; undefined otherwise. */
  named?(name: string): unknown;
  /** `full` has every property; `least` only what is required, with null and empty lists where they will do. */
  size: 'full' | 'least';
};

/** `name` is the property or parameter the schema belongs to. */
export function sampleOf(schema: JsonSchema, options: SampleOptions, name = ''): unknown {
  const named = options.named?.(name);
  // A state of runs is none of workers: what the schema names goes before what the test has.
  if (named !== undefined && (schema.enum?.includes(named) ?? true))
    return isListOnly(schema) && !Array.isArray(named) && named !== null ? [named] : named;
  if (schema.$ref !== undefined) return sampleOf(options.resolve(schema.$ref), options, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) {
    const isNull = (choice: JsonSchema) => choice.type === 'null';
    const least = options.size === 'least' ? choices.find(isNull) : undefined;
    return sampleOf(least ?? choices.find((choice) => !isNull(choice)) ?? {}, options, name);
  }
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => sampleOf(part, options, name) as object));
  const type = [schema.type].flat().find((candidate) => candidate !== 'null');
  switch (type) {
    case 'object':
      return sampleObject(schema, options);
    case 'array':
      return sampleArray(schema, options, name);
    case 'integer':
    case 'number':
      return typeof schema.default === 'number' ? schema.default : (schema.minimum ?? Math.min(1, schema.maximum ?? 1));
    case 'boolean':
      return schema.default ?? true;
    case 'string':
      return sampleText(schema);
    default:
      return null; // which is all that `null` allows, and as good as anything where everything is
  }
}

/** One name may stand for one thing here and for a list of them there. */
const isListOnly = (schema: JsonSchema): boolean =>
  schema.type === 'array' || (schema.anyOf?.every(({ type }) => type === 'array' || type === 'null') ?? false);

function sampleArray(schema: JsonSchema, options: SampleOptions, name: string): unknown[] {
  const length = Math.max(schema.minItems ?? 0, options.size === 'least' ? 0 : 1);
  return Array.from({ length }, () => sampleOf(schema.items ?? {}, options, name));
}

function sampleObject(schema: JsonSchema, options: SampleOptions): Record<string, unknown> {
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([name]) => options.size === 'full' || schema.required?.includes(name) || options.named?.(name) !== undefined,
  );
  return Object.fromEntries(wanted.map(([name, property]) => [name, sampleOf(property, options, name)]));
}

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  uuid: '00000000-0000-4000-8000-000000000000',
  email: 'sample@example.com',
  uri: 'https://sample.example/',
};

function sampleText(schema: JsonSchema): string {
  const { format, pattern, minLength = 0, maxLength = Infinity } = schema;
  if (format !== undefined && FORMATS[format] !== undefined) return FORMATS[format];
  if (pattern === undefined) return 'sample'.padEnd(minLength, 'x').slice(0, maxLength);
  const matching = fc
    .stringMatching(new RegExp(pattern, 'u'))
    .filter((text) => text.length >= minLength && text.length <= maxLength);
  return fc.sample(matching, { seed: 1, numRuns: 1 })[0] ?? '';
}
