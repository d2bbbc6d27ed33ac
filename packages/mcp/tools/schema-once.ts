/**
 * Caches the conversion of a schema to JSON Schema. Over HTTP, every request creates a tool server, which would
 * otherwise convert all schemas again.
 */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

export function schemaOnce<Input, Output>(
  schema: StandardSchemaWithJSON<Input, Output>,
): StandardSchemaWithJSON<Input, Output> {
  const standard = schema['~standard'];
  const made = new Map<string, Record<string, unknown>>();
  const convert =
    (side: 'input' | 'output'): (typeof standard.jsonSchema)['input'] =>
    (options) => {
      const key = `${side} ${JSON.stringify(options)}`;
      const json = made.get(key) ?? standard.jsonSchema[side](options);
      made.set(key, json);
      return json;
    };
  return { '~standard': { ...standard, jsonSchema: { input: convert('input'), output: convert('output') } } };
}
