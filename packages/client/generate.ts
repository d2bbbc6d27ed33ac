/** Renders `generated/api.ts`: the API's document as types. `npm run docs` writes it, `npm run docs:check` compares it. */
import openapiTS, { astToString } from 'openapi-typescript';

const HEADER = '// Generated from docs/openapi.json by "npm run docs". Do not edit.\n\n';

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> };

export async function renderApiTypes(openApi: string): Promise<string> {
  const document = withoutRefusals(JSON.parse(openApi, withoutDiscriminators) as Document);
  const types = await openapiTS(JSON.stringify(document), {
    alphabetize: true, // the order of the document is that of the routes, and says nothing here
    defaultNonNullable: false, // a field with a default may be left out of a request
    silent: true,
  });
  return `${HEADER}${astToString(types)}`;
}

/** They only help a validator to choose; made into types, they would ask for names of schemas where `action` is a verb. */
const withoutDiscriminators = (key: string, value: unknown): unknown => (key === 'discriminator' ? undefined : value);

/** Every refusal of every operation has one form, `Error`; said once, it leaves half of the file. */
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
