import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readBeginning } from './body.ts';
import { createApiClient } from './client.ts';
import type { ApiClient } from './client.ts';
import { ApiError } from './failure.ts';
import type { Failure } from './failure.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Stands for whatever may be at the other end: our own control plane is tested with, elsewhere. */
async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clientOf = async (handler: RequestListener, more: object = {}): Promise<ApiClient> =>
  createApiClient({ server: await listen(handler), token: 'the-token', userAgent: 'test/1', ...more });

const answering =
  (status: number, body: string, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  (_request: IncomingMessage, response: Parameters<RequestListener>[1]): void =>
    void response.writeHead(status, headers).end(body);

async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error.failure;
  throw new Error('no ApiError', { cause: error });
}

describe('a request', () => {
  it('is made of the path with its ids encoded, the query, the body and the token', async () => {
    const seen: { line: string; headers: IncomingMessage['headers']; body: string }[] = [];
    const client = await clientOf(async (request, response) => {
      const body = (await request.toArray()).join('');
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const path = { dag_id: 'a/b?c#d e', dag_run_id: 'manual__2026-01-31T06:00:00+00:00' };
    await client.patch('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path, body: { state: 'failed' } });
    await client.get('/api/v2/dags', { query: { tags: ['x', 'y&z'], paused: false, dag_id_pattern: undefined } });
    expect(seen.map(({ line }) => line)).toEqual([
      'PATCH /api/v2/dags/a%2Fb%3Fc%23d%20e/dagRuns/manual__2026-01-31T06%3A00%3A00%2B00%3A00',
      'GET /api/v2/dags?tags=x&tags=y%26z&paused=false',
    ]);
    expect(seen[0]).toMatchObject({ body: '{"state":"failed"}', headers: { 'content-type': 'application/json' } });
    expect(seen[1]?.headers).toMatchObject({ authorization: 'Bearer the-token', 'user-agent': 'test/1' });
    expect(seen[1]?.headers['content-type']).toBeUndefined();
  });

  it.each(['.', '..'])('with the id %s is not sent, where it would reach another resource', async (id) => {
    let requests = 0;
    const client = await clientOf(() => {
      requests += 1;
    });
    const call = client.delete('/api/v2/dags/{dag_id}', { path: { dag_id: id } });
    expect(await failureOf(call)).toMatchObject({ kind: 'refused', status: 404 });
    expect(requests).toBe(0);
  });

  it('ends with the reason of its signal, not as a failure of the control plane', async () => {
    const client = await clientOf(() => {}); // never answers
    const stopping = new AbortController();
    const call = client.get('/api/v2/version', { signal: stopping.signal });
    stopping.abort(new Error('nobody waits any more'));
    await expect(call).rejects.toThrow('nobody waits any more');
  });
});

describe('an answer', () => {
  it('without content is undefined', async () => {
    const client = await clientOf(answering(204, ''));
    expect(await client.delete('/api/v2/dags/{dag_id}', { path: { dag_id: 'x' } })).toBeUndefined();
  });

  it('that is a problem document is a refusal with its code, detail and request', async () => {
    const problem = JSON.stringify({ type: 'urn:svc:error:rate_limited', title: 'T', detail: 'too many', status: 429 });
    const headers = { 'content-type': 'application/problem+json', 'x-request-id': 'r-1', 'retry-after': '7' };
    const client = await clientOf(answering(429, problem, headers));
    expect(await failureOf(client.get('/api/v2/version'))).toEqual({
      kind: 'refused',
      status: 429,
      code: 'rate_limited',
      detail: 'too many',
      requestId: 'r-1',
      retryAfter: '7',
    });
  });

  it.each([
    ['of another type', 200, '<html>', { 'content-type': 'text/html' }, { location: null, reason: null }],
    ['that redirects', 302, '', { location: 'http://elsewhere' }, { location: 'http://elsewhere' }],
    [
      'that is no JSON',
      200,
      '{"a":',
      { 'content-type': 'application/json' },
      { reason: expect.stringMatching('JSON') },
    ],
    ['that is no problem document', 404, 'null', { 'content-type': 'application/problem+json' }, { status: 404 }],
  ])('%s comes from something else than a control plane', async (_case, status, body, headers, expected) => {
    const client = await clientOf(answering(status, body, headers as unknown as Record<string, string>));
    expect(await failureOf(client.get('/api/v2/version'))).toMatchObject({ kind: 'unexpected', ...expected });
  });

  it('larger than any that the API has is given up, not held in memory', async () => {
    const client = await clientOf((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, ' ')));
      };
      response.on('drain', more);
      more();
    });
    expect(await failureOf(client.get('/api/v2/version'))).toMatchObject({
      kind: 'unexpected',
      reason: 'the answer has more than 67108864 bytes',
    });
  });

  it('that is cut off is none, so half an answer is never taken for a whole one', async () => {
    const client = await clientOf((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('one\ntwo\n', () => response.destroy());
    });
    const call = { path: { dag_id: 'x' }, accept: 'text/plain' } as const;
    const { texts } = await client.open('/api/v2/dagSources/{dag_id}', call);
    expect(await failureOf(readBeginning(texts, 1_000))).toMatchObject({ kind: 'unreachable', isTimeout: false });
  });

  it('that takes too long is told from one that cannot come', async () => {
    const client = await clientOf(() => {});
    const call = { path: { dag_id: 'x' }, accept: 'text/plain', timeoutMs: 20 } as const;
    const late = failureOf(client.open('/api/v2/dagSources/{dag_id}', call));
    expect(await late).toMatchObject({ kind: 'unreachable', isTimeout: true });
    const nobody = createApiClient({ server: 'http://127.0.0.1:1', userAgent: 'test/1' });
    expect(await failureOf(nobody.get('/api/v2/version'))).toMatchObject({ kind: 'unreachable', isTimeout: false });
  });
});

it('a failure is thrown as the program that calls explains it', async () => {
  const client = await clientOf(answering(500, ''), { explain: ({ kind }: Failure) => new Error(`it was ${kind}`) });
  await expect(client.get('/api/v2/version')).rejects.toThrow('it was unexpected');
});
