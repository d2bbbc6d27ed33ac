/**
 * Airflow's own OpenAPI documents as judges of our answers. The documents say which fields must be there and of what type;
 * beyond them every other field of a model must be there too, as null where there is nothing: that is the house rule, since
 * clients of all kinds read these answers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { airflowOpenApi } from './openapi-document.ts';

type Schema = { properties?: Record<string, object>; required?: string[]; [keyword: string]: unknown };
type Document = {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
  components: { schemas: Record<string, Schema> };
};

export type AirflowOpenApi = {
  /** `GET /api/v2/dags/{dag_id}`, of all documents. */
  operations: readonly string[];
  /** What is wrong with the body of an answer with this status; undefined when the documents say nothing of it. */
  violations(operation: string, status: number, body: unknown): string[] | undefined;
  /** As `violations`, of a model by its name. For answers whose schema is only "text". */
  violationsOfModel(name: string, body: unknown): string[];
};

const FILES = ['v2-rest-api-generated.yaml', '_private_ui.yaml'];

/** The documents of all versions. An answer must satisfy each version that has the operation. */
export async function readAirflowOpenApi(): Promise<AirflowOpenApi> {
  const documents = (await airflowOpenApi()).map(readDocuments);
  return {
    operations: [...new Set(documents.flatMap(({ operations }) => operations))],
    violations(name, status, body) {
      const found = documents
        .filter(({ operations }) => operations.includes(name))
        .map(({ violations }) => violations(name, status, body));
      return found.some((problems) => problems === undefined) ? undefined : found.flatMap((problems) => problems ?? []);
    },
    violationsOfModel: (name, body) => documents.flatMap(({ violationsOfModel }) => violationsOfModel(name, body)),
  };
}

function readDocuments({ version, folder }: { version: string; folder: string }): AirflowOpenApi {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const operations = new Map<string, { file: string; document: Document; path: string; method: string }>();
  const models = new Map<string, string>();
  for (const file of FILES) {
    const document = parse(readFileSync(join(folder, file), 'utf8')) as Document;
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      requireAllFields(name, schema);
      admitLaterAdditions(name, schema);
      models.set(name, `${file}#/components/schemas/${name}`);
    }
    ajv.addSchema(document, file);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods)) {
        operations.set(`${method.toUpperCase()} ${path}`, { file, document, path, method });
      }
    }
  }

  const compiled = new Map<string, ValidateFunction>();
  const check = (reference: string, body: unknown): string[] => {
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference });
    compiled.set(reference, validate);
    return validate(body) ? [] : reasons(validate.errors ?? []).map((reason) => `${version}: ${reason}`);
  };
  return {
    operations: [...operations.keys()],
    violations(name, status, body) {
      const operation = operations.get(name);
      const response = operation?.document.paths[operation.path]?.[operation.method]?.responses[String(status)];
      if (!operation || response?.content?.['application/json'] === undefined) return undefined;
      const place = [
        'paths',
        operation.path,
        operation.method,
        'responses',
        String(status),
        'content',
        'application/json',
      ];
      return check(`${operation.file}#/${[...place, 'schema'].map(pointerPart).join('/')}`, body);
    },
    violationsOfModel(name, body) {
      const reference = models.get(name);
      if (reference === undefined) throw new Error(`the documents of Airflow ${version} have no model ${name}`);
      return check(reference, body);
    },
  };
}

/** What a later version adds to models that the earlier one closed. Its client and its web UI ignore the additions. */
function admitLaterAdditions(name: string, schema: Schema): void {
  if (name === 'DagRunAssetReference') delete schema['additionalProperties'];
  if (name === 'MenuItem') schema['enum'] = [...new Set([...(schema['enum'] as string[]), 'Deadlines'])];
}

const pointerPart = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/** What the specification of this product keeps to itself. */
const NEVER_RETURNED: Record<string, string> = { ConnectionResponse: 'password' };
/** Stands beside a larger model in a union, whose objects would otherwise pass as it. */
const CLOSED = new Set(['NewTaskResponse']);

function requireAllFields(name: string, schema: Schema): void {
  if (!schema.properties) return;
  schema.required = Object.keys(schema.properties).filter((field) => field !== NEVER_RETURNED[name]);
  if (CLOSED.has(name)) schema['additionalProperties'] = false;
}

/** Each once; of a union the reasons of all its branches are there, the telling ones among them. */
function reasons(errors: readonly ErrorObject[]): string[] {
  const texts = errors.map(({ instancePath, message, params }) => {
    const allowed = 'allowedValues' in params ? `: ${JSON.stringify(params['allowedValues'])}` : '';
    return `${instancePath.replaceAll(/\/\d+(?=\/|$)/g, '/*') || '/'} ${message ?? ''}${allowed}`;
  });
  return [...new Set(texts)];
}
