/** Every operation of the API, as its own document describes it. Tests made from this cover operations added later. */
import { PERMISSIONS } from '@svc/server/auth/permissions.ts';
import type { Access } from '@svc/server/http/access.ts';
import { sampleOf } from './json-schema-samples.ts';
import type { JsonSchema } from './json-schema-samples.ts';
import type { TestServer } from './test-server.ts';

type Parameter = { name: string; in: string; required: boolean; schema: JsonSchema };

export type Operation = {
  id: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  access: Access;
  parameters: Parameter[];
  body: JsonSchema | undefined;
  /** What its answer grows with, where that is not a page. */
  growsWith: string | undefined;
};

export type Api = { operations: Operation[]; resolve(reference: string): JsonSchema };

type Document = {
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, JsonSchema> };
};

const ACCESS_WORDS = new Set<string>(['public', 'user', ...PERMISSIONS]);

/** Fails for an operation that does not say who may call it, or that could not be told apart from another. */
export async function readApi(server: Pick<TestServer, 'call'>): Promise<Api> {
  const document = (await server.call('/openapi.json')).json<Document>();
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => readOperation(path, method.toUpperCase(), operation)),
  );
  const ids = operations.map((operation) => operation.id);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (repeated.length > 0) throw new Error(`operationId used twice: ${repeated.join(', ')}`);
  return {
    operations,
    resolve(reference) {
      const schema = document.components.schemas[reference.replace('#/components/schemas/', '')];
      if (!schema) throw new Error(`the document refers to ${reference} and does not have it`);
      return schema;
    },
  };
}

function readOperation(path: string, method: string, operation: Record<string, unknown>): Operation {
  const name = `${method} ${path}`;
  const { operationId: id, 'x-access': access } = operation;
  if (typeof id !== 'string') throw new Error(`${name} has no operationId`);
  if (typeof access !== 'string' || !ACCESS_WORDS.has(access)) {
    throw new Error(`${name} does not say who may call it: x-access is ${JSON.stringify(access)}`);
  }
  const requestBody = operation['requestBody'] as { content: Record<string, { schema: JsonSchema }> } | undefined;
  return {
    id,
    method,
    path,
    access: access as Access,
    parameters: (operation['parameters'] ?? []) as Parameter[],
    body: requestBody?.content['application/json']?.schema,
    growsWith: operation['x-grows-with'] as string | undefined,
  };
}

export type OperationRequest = { path: string; method: string; body?: unknown };

/**
 * A valid request for the operation. `values` gives what a parameter or body property of that name should be, wherever
 * it stands; the rest is made up from the schemas. A path parameter without a value is an error: nothing could be found
 * under a made-up id, and the operation would go untested.
 */
export function requestFor(
  api: Api,
  operation: Operation,
  values: Readonly<Record<string, unknown>>,
): OperationRequest {
  const named = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  const options = { resolve: api.resolve, named, size: 'full' as const };
  const path = operation.path.replaceAll(/\{(\w+)\}(\/\{\*\})?/g, (_match, name: string, rest?: string) => {
    if (named(name) === undefined)
      throw new Error(
        `${operation.method} ${operation.path}: no value for {${name}}; make one in testing/tenant-contents.ts`,
      );
    const encoded = encodeURIComponent(String(named(name)));
    return rest === undefined ? encoded : encoded.replaceAll('%2F', '/'); // an id with its slashes written plainly
  });
  const query = new URLSearchParams();
  for (const parameter of operation.parameters.filter((each) => each.in === 'query')) {
    const given = named(parameter.name);
    if (given === undefined && !parameter.required) continue;
    // A null is for bodies: in a query it would be text.
    const sample = sampleOf(parameter.schema, options, (given ?? null) === null ? '' : parameter.name);
    for (const value of [sample].flat()) query.append(parameter.name, String(value));
  }
  return {
    path: query.size === 0 ? path : `${path}?${query}`,
    method: operation.method,
    ...(operation.body && { body: sampleOf(operation.body, options) }),
  };
}
