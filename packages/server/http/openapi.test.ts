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
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
  'x-access'?: string;
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

  it('says of every operation what success looks like, and that errors are problems', () => {
    const withoutSuccess = failing(({ responses }) => Object.keys(responses).some((status) => /^[23]/.test(status)));
    expect(withoutSuccess).toEqual([]);
    const isProblem = ([status, { content }]: [string, { content?: object }]) =>
      status < '4' || (content !== undefined && Object.keys(content).join() === 'application/problem+json');
    expect(failing(({ responses }) => Object.entries(responses).every(isProblem))).toEqual([]);
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
