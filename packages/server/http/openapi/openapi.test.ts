import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

type Parameter = { name: string; in: string; required: boolean; schema: object };
type Described = {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
  'x-access'?: string;
  'x-grows-with'?: string;
};
type Schema = {
  $ref?: string;
  type?: string;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
};
type Document = {
  openapi: string;
  info: Record<string, unknown>;
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
};

let server: TestServer;
let document: Document;
let operations: { name: string; path: string; operation: Described }[];
beforeAll(async () => {
  server = await startTestServer();
  document = (await server.call('/openapi.json')).json<Document>();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );
});
afterAll(() => server?.close());

/** The names of the operations for which something does not hold. */
const failing = (holds: (operation: Described, path: string) => boolean): string[] =>
  operations.filter(({ operation, path }) => !holds(operation, path)).map(({ name }) => name);

describe('the API document', () => {
  it('is OpenAPI 3.1 with the endpoints of the specification', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: expect.any(String) as string, version: '1.0.0' });
    const specified = [
      'POST /auth/token',
      'POST /api/v2/auth/token/renew',
      'GET /api/v2/auth/login',
      'GET /api/v2/auth/logout',
      'GET /api/v2/users',
      'POST /api/v2/users',
      'GET /api/v2/connections',
      'POST /api/v2/connections',
      'GET /api/v2/variables',
      'GET /api/v2/monitor/health',
      'GET /api/v2/monitor/executor',
      'GET /api/v2/version',
      'GET /healthz',
      'GET /readyz',
    ];
    expect(operations.map(({ name }) => name)).toEqual(expect.arrayContaining(specified));
  });

  it('names, summarises and groups every operation, each name once', () => {
    expect(failing(({ operationId }) => /^[a-z][a-z0-9_]*$/.test(operationId ?? ''))).toEqual([]);
    expect(failing(({ summary }) => (summary ?? '').length > 3)).toEqual([]);
    expect(failing(({ tags }) => tags?.length === 1)).toEqual([]);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('has no two groups whose names differ by their ending only, which readers would take for one', () => {
    const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags ?? []))];
    const alike = tags.filter((tag) => tags.some((other) => other !== tag && other.startsWith(tag.replace(/s$/, ''))));
    // A group named after a thing, and groups of what belongs to it.
    expect(alike.filter((tag) => !['Assets', 'DAGs', 'Tasks'].includes(tag))).toEqual([]);
  });

  it('says of every operation what success looks like, and that errors are problems', () => {
    const withoutSuccess = failing(({ responses }) => Object.keys(responses).some((status) => /^[23]/.test(status)));
    expect(withoutSuccess).toEqual([]);
    // What browsers are sent to tells people the same as a page.
    const formsOf = ({ operationId }: Described) =>
      operationId === 'oidc_login' ? 'application/problem+json,text/html' : 'application/problem+json';
    const areProblems = (operation: Described) =>
      Object.entries(operation.responses).every(
        ([status, { content }]) => status < '4' || Object.keys(content ?? {}).join() === formsOf(operation),
      );
    expect(failing(areProblems)).toEqual([]);
    expect(failing(({ responses }) => Object.values(responses).every(({ description }) => description !== ''))).toEqual(
      [],
    );
  });

  it('says who may call: the access in words, a bearer where one is needed, and both refusals', () => {
    expect(failing((operation) => operation['x-access'] !== undefined)).toEqual([]);
    const isConsistent = ({ security, responses, 'x-access': access }: Described) =>
      access === 'public'
        ? security?.length === 0
        : security?.length === 1 && responses['401'] !== undefined && responses['403'] !== undefined;
    expect(failing(isConsistent)).toEqual([]);
  });

  it('says of every answer with a list what bounds it: a limit, or what it grows with', () => {
    const resolved = (schema: Schema): Schema =>
      (document.components.schemas[schema.$ref?.replace('#/components/schemas/', '') ?? ''] as Schema) ?? schema;
    const hasList = (schema: Schema, depth = 0): boolean => {
      const { type, items = {}, maxItems, properties = {}, anyOf = [], oneOf = [] } = resolved(schema);
      if (type === 'array') return maxItems === undefined && resolved(items).properties !== undefined;
      const parts = [...Object.values(properties), ...anyOf, ...oneOf];
      return depth < 6 && parts.some((part) => hasList(part, depth + 1));
    };
    const isBounded = ({ parameters = [], responses, 'x-grows-with': grows }: Described): boolean => {
      const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const schemas = answers.flatMap(([, { content = {} }]) => Object.values(content).map(({ schema }) => schema));
      const hasLimit = parameters.some(({ name }) => name === 'limit');
      return hasLimit || grows !== undefined || !schemas.some((schema) => hasList(schema));
    };
    expect(failing(isBounded)).toEqual([]);
  });

  it('declares exactly the parameters that stand in its paths', () => {
    const declares = ({ parameters = [] }: Described, path: string) => {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]).toSorted();
      const declared = parameters.filter((parameter) => parameter.in === 'path');
      return (
        JSON.stringify(declared.map((parameter) => parameter.name).toSorted()) === JSON.stringify(inPath) &&
        declared.every((parameter) => parameter.required)
      );
    };
    expect(failing(declares)).toEqual([]);
  });

  it('requires no parameter that has a default, as limit and offset have', () => {
    const isOptional = ({ schema, required }: Parameter) => !('default' in schema) || !required;
    expect(failing(({ parameters = [] }) => parameters.every(isOptional))).toEqual([]);
    const paged = operations.find(({ name }) => name === 'GET /api/v2/users')?.operation.parameters;
    expect(paged?.map(({ name, required }) => [name, required])).toEqual([
      ['limit', false],
      ['offset', false],
    ]);
  });

  it('bounds every number that comes as text: "1e999" is an integer to the validator, and none to the database', () => {
    const isBounded = ({ schema }: Parameter) => {
      const item = 'items' in schema ? (schema['items'] as object) : schema;
      return !/"(?:integer|number)"/.test(JSON.stringify(item)) || ('minimum' in item && 'maximum' in item);
    };
    expect(failing(({ parameters = [] }) => parameters.every(isBounded))).toEqual([]);
  });

  it('requires no field of a body that has a default, and no body that may be missing', () => {
    const open = Object.entries(document.components.schemas).flatMap(([name, schema]) => {
      const { required = [], properties = {} } = schema as { required?: string[]; properties?: Record<string, object> };
      return required.filter((field) => 'default' in (properties[field] ?? {})).map((field) => `${name}.${field}`);
    });
    expect(open).toEqual([]);
    const optional = operations.filter(({ operation }) => operation.requestBody?.required === false);
    expect(optional.map(({ name }) => name)).toEqual(['POST /api/v2/assets/{asset_id}/materialize']);
  });

  it('says of every union with a tag which value of it means which schema', () => {
    const mappings = [...JSON.stringify(document).matchAll(/"discriminator":(\{.*?\}\}?)/g)].map(
      (match) => JSON.parse(match[1] ?? '') as { mapping?: object },
    );
    expect(mappings).toHaveLength(5);
    expect(mappings.map(({ mapping }) => Object.keys(mapping ?? {}))).toEqual(
      mappings.map(() => ['create', 'update', 'delete']),
    );
    expect(mappings).toContainEqual({
      propertyName: 'action',
      mapping: expect.objectContaining({ create: '#/components/schemas/BulkCreatePools' }) as object,
    });
  });

  it('has the plain text that some operations answer with, beside their JSON', () => {
    const withText = operations.filter(({ operation }) => operation.responses['200']?.content?.['text/plain']);
    expect(withText.map(({ operation }) => operation.operationId)).toEqual(
      expect.arrayContaining(['get_dag_source', 'get_config', 'get_config_value', 'get_log']),
    );
  });

  it('has the refusals that follow from rules for all, and those that a route names', () => {
    const statuses = (wanted: string) =>
      Object.keys(operations.find(({ name }) => name === wanted)?.operation.responses ?? {}).join(' ');
    expect(statuses('PATCH /api/v2/users/{user_id}')).toBe('200 400 401 403 404 409 413 415 429 431 500 503');
    expect(statuses('GET /api/v2/users')).toBe('200 400 401 403 415 429 431 500 503');
    expect(statuses('POST /auth/token')).toBe('200 400 401 403 413 415 429 431 500 503');
    expect(statuses('PUT /api/v2/ide/file')).toMatch(/404 409 412 413 415 428/);
  });

  it('names the keys that a list may be sorted by, and nothing of how the document is made', () => {
    const keys = operations.find(({ name }) => name === 'GET /api/v2/variables')?.operation.parameters;
    expect(keys?.find(({ name }) => name === 'order_by')?.schema).toMatchObject({
      items: { enum: expect.arrayContaining(['key', '-key']) as string[] },
    });
    expect(JSON.stringify(document)).not.toContain('x-shown-as');
  });

  it('refers to nothing that it does not have, and has nothing that it does not refer to', () => {
    const referred = new Set(
      [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((m) => m[1]),
    );
    expect([...referred].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
  });

  it('marks every password as something that only goes in', () => {
    const open = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      Object.entries((schema as { properties?: Record<string, object> }).properties ?? {})
        .filter(([property, value]) => /password/.test(property) && !JSON.stringify(value).includes('"writeOnly":true'))
        .map(([property]) => `${name}.${property}`),
    );
    expect(open).toEqual([]);
  });
});
