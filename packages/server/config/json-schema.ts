// The JSON Schema of the configuration file, for editors and for chart values. The loader does not use it, because its
// own messages name lines, nearest names and allowed values.

import { MAX_DURATION_MS } from './duration.ts';
import type { EnumDefinition, KeyDefinition, StringDefinition } from './key-definition.ts';
import { configKeys, definitionOf, variableOf } from './keys.ts';
import { MAX_INT } from './parse-value.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

interface SchemaBranch {
  type: readonly ['object', 'null'];
  additionalProperties: false;
  properties: Record<string, SchemaBranch | JsonSchema>;
}

export function configJsonSchema(): JsonSchema {
  const root = newBranch();
  for (const key of configKeys) {
    const path = key.split('.');
    let branch = root;
    for (const section of path.slice(0, -1)) {
      branch = (branch.properties[section] ??= newBranch()) as SchemaBranch;
    }
    branch.properties[path.at(-1) ?? ''] = schemaOf(key, definitionOf(key));
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'svc configuration file',
    description: 'Read with `svc server --config <file>`. Generated from the table of configuration keys.',
    ...root,
  };
}

export function renderJsonSchema(): string {
  return `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
}

/** `null` is allowed everywhere, because a key or section without a value counts as not set. */
function newBranch(): SchemaBranch {
  return { type: ['object', 'null'], additionalProperties: false, properties: {} };
}

function schemaOf(key: string, definition: KeyDefinition): JsonSchema {
  return {
    description: `${definition.doc} Variable: ${variableOf(key)}. Edition: ${definition.edition}.`,
    ...valueSchema(definition),
    default: definition.default,
  };
}

function valueSchema(definition: KeyDefinition): JsonSchema {
  switch (definition.type) {
    case 'int':
      return { type: ['integer', 'null'], minimum: definition.min ?? -MAX_INT, maximum: definition.max ?? MAX_INT };
    case 'bool':
      return { enum: [true, false, 1, 0, 'true', 'false', 'yes', 'no', 'on', 'off', null] };
    case 'duration':
      return {
        type: ['string', 'number', 'null'],
        pattern: '^[+-]?(\\d+(\\.\\d+)?|(\\d+(\\.\\d+)?(ms|s|m|h|d))+)$',
        minimum: definition.min === undefined ? -MAX_DURATION_MS / 1000 : definition.min / 1000,
        maximum: (definition.max ?? MAX_DURATION_MS) / 1000,
      };
    case 'enum':
      return { enum: [...enumWords(definition), null] };
    case 'address':
      return { type: ['string', 'null'], pattern: definition.allowEmpty === true ? '^$|:\\d{1,5}$' : ':\\d{1,5}$' };
    case 'json':
      return { type: ['string', 'null'] };
    case 'secret':
      // A secret may consist of digits, which YAML reads as a number.
      return { type: ['string', 'number', 'null'], writeOnly: true };
    case 'list':
      return { type: ['array', 'null'], items: { type: 'string', ...itemPattern(definition.pattern) } };
    case 'map':
      return { type: ['object', 'null'], additionalProperties: { type: 'string', minLength: 1 } };
    case 'string':
      return { type: ['string', 'number', 'null'], ...orEmpty(definition) };
  }
}

/**
 * Aliases are allowed in the file. Unknown words are not in the schema, even if the loader replaces them by a fallback.
 */
function enumWords(definition: EnumDefinition): readonly string[] {
  const words = [...definition.values, ...Object.keys(definition.aliases ?? {})];
  return definition.emptyMeans === undefined || words.includes('') ? words : ['', ...words];
}

function itemPattern(pattern: RegExp | undefined): JsonSchema {
  return pattern === undefined ? {} : { pattern: pattern.source };
}

function orEmpty(definition: StringDefinition): JsonSchema {
  if (definition.default !== '') {
    return { minLength: 1, ...itemPattern(definition.pattern) };
  }
  return definition.pattern === undefined ? {} : { pattern: `^$|${definition.pattern.source}` };
}
