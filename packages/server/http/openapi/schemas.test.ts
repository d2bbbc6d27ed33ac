/** The validator of requests takes schemas as they are (validation.ts): this checks them, in the document that is made of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { ROOT } from '@svc/testing/paths.ts';

type Content = Record<string, { schema: object }>;
type Operation = {
  parameters?: { name: string; schema: object }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

const document = JSON.parse(readFileSync(join(ROOT, 'docs', 'openapi.json'), 'utf8')) as Document;

const ofContent = (place: string, content: Content = {}): [string, object][] =>
  Object.values(content).map(({ schema }) => [place, schema]);

const ofOperation = (place: string, { parameters = [], requestBody, responses }: Operation): [string, object][] => [
  ...parameters.map(({ name, schema }): [string, object] => [`${place}: ${name}`, schema]),
  ...ofContent(`${place}: body`, requestBody?.content),
  ...Object.entries(responses).flatMap(([status, { content }]) => ofContent(`${place}: ${status}`, content)),
];

it('every schema of the API is a valid JSON schema, so that none lets everything through', () => {
  const schemas = [
    ...Object.entries(document.components.schemas),
    ...Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => ofOperation(`${method} ${path}`, operation)),
    ),
  ];
  expect(schemas.length).toBeGreaterThan(1_000);
  const ajv = new Ajv({ strict: false });
  const wrong = schemas.filter(([, schema]) => !ajv.validateSchema(schema)).map(([place]) => place);
  expect(wrong).toEqual([]);
  expect(ajv.validateSchema({ type: 'strng' })).toBe(false);
});
