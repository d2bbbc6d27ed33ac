/**
 * Rules that hold for every operation of the API document, those added later included: queries are read strictly, `~` in a
 * path is an answer and not a failure of the server, and what is sent says what it is.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApi, requestFor } from '@svc/testing/server/api-operations.ts';
import type { Api, Operation } from '@svc/testing/server/api-operations.ts';
import { fillTenant } from '@svc/testing/server/tenant-contents.ts';
import type { TenantContents } from '@svc/testing/server/tenant-contents.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let api: Api;
let token: string;
let contents: TenantContents;
beforeAll(async () => {
  server = await startTestServer({ 'auth.login-rate-limit-per-minute': '100000' });
  api = await readApi(server);
  token = await server.login();
  contents = await fillTenant(server, token, 'home');
});
afterAll(() => server?.close());

const call = (operation: Operation, change: { query?: string; values?: Record<string, unknown> } = {}) => {
  const request = requestFor(api, operation, { ...contents.values, ...change.values });
  const glue = request.path.includes('?') ? '&' : '?';
  const path = change.query === undefined ? request.path : `${request.path}${glue}${change.query}`;
  return server.call(path, { ...request, ...(operation.access !== 'public' && { token }) });
};
const detailOf = (answer: Answer): string => (answer.status === 400 ? answer.json<{ detail: string }>().detail : '');
const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
/** Reading first: what the others do to the contents must not be in its way. */
const readingFirst = () => api.operations.toSorted((a, b) => Number(a.method !== 'GET') - Number(b.method !== 'GET'));

describe('every operation', () => {
  it('refuses a query parameter that it does not have, by name, and does nothing', async () => {
    const lax: string[] = [];
    for (const operation of api.operations) {
      const detail = detailOf(await call(operation, { query: 'no_such_parameter=1&nor_this' }));
      if (!detail.startsWith('unknown query parameters "no_such_parameter", "nor_this"; '))
        lax.push(`${nameOf(operation)}: ${detail}`);
    }
    expect(lax).toEqual([]);
  });

  it('reads a boolean in its query as Airflow does', async () => {
    const wrong: string[] = [];
    const booleans = api.operations.flatMap((operation) =>
      operation.parameters
        .filter((parameter) => parameter.in === 'query' && parameter.schema['type'] === 'boolean')
        .map(({ name }) => ({ operation, name })),
    );
    expect(booleans.length).toBeGreaterThan(10);
    for (const { operation, name } of booleans) {
      const refusal = detailOf(await call(operation, { query: `${name}=perhaps` }));
      if (!refusal.includes(`${name} must be true or false`)) wrong.push(`${nameOf(operation)} ${name}: ${refusal}`);
      if (operation.method !== 'GET') continue;
      for (const word of ['True', 'off', '1']) {
        const answer = await call(operation, { query: `${name}=${word}` });
        if (answer.status >= 400 && answer.text.includes('must be true or false'))
          wrong.push(`${nameOf(operation)} ${name}=${word}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('answers ~ in place of any one of its path parameters, and says what the answer is', async () => {
    const broken: string[] = [];
    for (const operation of readingFirst()) {
      const names = operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      for (const values of [{}, ...names.map((name) => ({ [name]: '~' }))]) {
        const answer = await call(operation, { values });
        const type = answer.headers.get('content-type');
        if (answer.status >= 500 || (answer.text !== '' && type === null))
          broken.push(`${nameOf(operation)} ${JSON.stringify(values)}: ${answer.status} ${type}`);
      }
    }
    expect(broken).toEqual([]);
  });
});
