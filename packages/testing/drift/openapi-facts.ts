/** An OpenAPI document as facts: one for each parameter, body and answer of an operation, and one for each field of a model. */

type Schema = { properties?: Record<string, object>; required?: string[] };
type Content = { content?: Record<string, { schema?: object }> };
type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema?: object }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
export type OpenApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Words for readers, which change without a change of the API. */
const NOT_COMPARED = new Set(['title', 'description', 'summary', 'example', 'examples']);

export function openApiFacts(document: OpenApiDocument): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      facts[name] = 'operation';
      for (const { name: parameter, in: place, required = false, schema } of operation.parameters ?? []) {
        facts[`${name} ${place} ${parameter}`] = `${required ? 'required ' : ''}${textOf(schema)}`;
      }
      if (operation.requestBody) facts[`${name} body`] = contentOf(operation.requestBody);
      for (const [status, answer] of Object.entries(operation.responses)) {
        if (status.startsWith('2')) facts[`${name} ${status}`] = contentOf(answer);
      }
    }
  }
  for (const [name, schema] of Object.entries(document.components.schemas))
    Object.assign(facts, modelFacts(name, schema));
  return facts;
}

function modelFacts(name: string, schema: Schema): Record<string, string> {
  const { properties, required = [], ...rest } = schema;
  const fields = Object.entries(properties ?? {}).map(([field, type]) => [
    `${name}.${field}`,
    `${required.includes(field) ? 'required ' : ''}${textOf(type)}`,
  ]);
  return { [name]: textOf(rest), ...Object.fromEntries(fields) };
}

const contentOf = ({ content = {} }: Content): string =>
  Object.entries(content)
    .map(([type, { schema }]) => `${type} ${textOf(schema)}`)
    .toSorted()
    .join(', ');

/** In one order, because documents write the same schema in several ones. */
function textOf(schema: object | undefined): string {
  return JSON.stringify(schema ?? {}, (key, value: unknown) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    const entries = Object.entries(value).filter(
      // A field of a model may have the name of a keyword.
      ([name]) => key === 'properties' || !NOT_COMPARED.has(name),
    );
    return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
