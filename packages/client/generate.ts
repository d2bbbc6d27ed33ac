/**
 * Renders `generated/api.ts`, the types of the API's document. `npm run docs` writes it, and `npm run docs:check`
 * compares it.
 */
import openapiTS, { astToString } from 'openapi-typescript';

const HEADER = '// Generated from docs/openapi.json by "npm run docs". Do not edit.\n\n';

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };

export async function renderApiTypes(openApi: string): Promise<string> {
  const document = withoutRefusals(JSON.parse(openApi, withoutDiscriminators) as Document);
  const types = await openapiTS(JSON.stringify(document), {
    alphabetize: true, // the order of routes has no meaning for types
    defaultNonNullable: false, // a field with a default is optional in a request
    silent: true,
  });
  return `${HEADER}${astToString(types)}`;
}

/**
 * Removes discriminators, which only help a validator. As types, they would require schema names where `action` is a
 * verb.
 */
const withoutDiscriminators = (key: string, value: unknown): unknown => (key === 'discriminator' ? undefined : value);

/** Removes refusals, because all of them have the one form `Error`. Repeating it would double the size of the file. */
function withoutRefusals(document: Document): Document {
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [
        method,
        { ...operation, responses: Object.fromEntries(Object.entries(operation.responses).filter(isNoRefusal)) },
      ]),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

const isNoRefusal = ([status]: [string, unknown]): boolean => !/^[45]/.test(status);
