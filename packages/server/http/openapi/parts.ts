/**
 * Prepares the document for its readers. Repeated schemas become named parts. Rules of requests that the framework does
 * not express are added, for example that a field with a default is optional.
 */
import { SHOWN_AS } from '../schemas.ts';

type Node = Record<string, unknown>;

/**
 * Moves every schema with a title into components and refers to it by name. The document becomes shorter and readable.
 */
export function withNamedParts<Doc extends object>(document: Doc): Doc {
  const schemas: Record<string, Node> = {};
  const visit = (value: unknown): unknown => {
    if (value === 'Default Response') return 'Done'; // the text of the library for a response without a description
    if (Array.isArray(value)) return value.map(visit);
    if (value === null || typeof value !== 'object') return value;
    if (Object.hasOwn(value, SHOWN_AS)) return (value as Node)[SHOWN_AS];
    const copy = repaired(
      Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)])),
      schemas,
    );
    if (!isNamedSchema(copy)) return copy;
    schemas[copy.title] ??= copy;
    return { $ref: referenceTo(copy.title) };
  };
  const { paths, components, ...rest } = document as Node;
  const visited = visit(paths);
  return { ...rest, paths: visited, components: { ...(components as object), schemas: sorted(schemas) } } as Doc;
}

function repaired(node: Node, schemas: Readonly<Record<string, Node>>): Node {
  if (node['in'] === 'query' && hasDefault(node['schema'])) return { ...node, required: false };
  if (isBody(node)) return { ...node, required: !acceptsNull(jsonSchemaOf(node)) };
  if (isObject(node['discriminator'])) return withMapping(node, schemas);
  return withoutRequiredDefaults(node);
}

/** A field with a default is optional for callers, and handlers always receive a value. */
function withoutRequiredDefaults(node: Node): Node {
  const { required, properties } = node;
  if (!Array.isArray(required) || !isObject(properties)) return node;
  const needed = required.filter((name: string) => !hasDefault(properties[name]));
  if (needed.length > 0) return { ...node, required: needed };
  const { required: _none, ...rest } = node;
  return rest;
}

/**
 * Without a mapping, a tag would have to be the name of a schema, and `action: "create"` is not such a name. Our
 * validator reads the constants in the members instead and refuses a mapping.
 */
function withMapping(node: Node, schemas: Readonly<Record<string, Node>>): Node {
  const { propertyName } = node['discriminator'] as { propertyName: string };
  const members = (node['oneOf'] ?? node['anyOf']) as { $ref: string }[];
  const mapping = members.flatMap(({ $ref }) => tagsOf(schemas[nameIn($ref)], propertyName).map((tag) => [tag, $ref]));
  return { ...node, discriminator: { propertyName, mapping: Object.fromEntries(mapping) as object } };
}

function tagsOf(schema: Node | undefined, propertyName: string): string[] {
  const tag = (schema?.['properties'] as Record<string, { const?: string; enum?: string[] }> | undefined)?.[
    propertyName
  ];
  return tag?.enum ?? [tag?.const ?? ''];
}

const REFERENCE = '#/components/schemas/';
const referenceTo = (title: string): string => `${REFERENCE}${title}`;
const nameIn = (reference: string): string => reference.slice(REFERENCE.length);

const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasDefault = (schema: unknown): boolean => isObject(schema) && Object.hasOwn(schema, 'default');
const isNamedSchema = (node: Node): node is Node & { title: string } =>
  typeof node['title'] === 'string' && node['type'] === 'object';

/** True for the body of a request. A response never has `required`. */
const isBody = (node: Node): boolean => isObject(node['content']) && typeof node['required'] === 'boolean';
const jsonSchemaOf = (body: Node): unknown =>
  ((body['content'] as Node)['application/json'] as { schema?: unknown } | undefined)?.schema;
const acceptsNull = (schema: unknown): boolean =>
  isObject(schema) && ((schema['anyOf'] ?? []) as Node[]).some((member) => member['type'] === 'null');

const sorted = <Value>(entries: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(entries).sort(([one], [other]) => one.localeCompare(other)));
