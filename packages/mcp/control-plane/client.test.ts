import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBeginning } from '@svc/client/body.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { createControlPlane } from './client.ts';
import { readLastLines } from './last-lines.ts';
import { createLimit } from './limit.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(handler: RequestListener, port = 0): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, port: own, server };
}

/** Any operation with an answer in text. */
const TEXT = '/api/v2/dagSources/{dag_id}';
const DAG = { path: { dag_id: 'x' } };

const clientOf = (server: string, more: object = {}) =>
  createControlPlane({ server, token: 'the-token', tokenSource: 'request', limit: createLimit(8), ...more });
const json: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'application/json').end('{"ok":true}');
};
const problem =
  (status: number, code: string, detail: string): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json', 'x-request-id': 'r-1' });
    response.end(JSON.stringify({ type: `urn:svc:error:${code}`, title: 'T', status, detail, instance: '/' }));
  };

describe('a control plane that is restarted', () => {
  it('is waited for: connections that are cut or refused are made again', async () => {
    let calls = 0;
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    const first = await listen(
      (request, response) => {
        calls += 1;
        if (calls === 1) return json(request, response);
        request.socket.destroy();
        resolve();
      },
      await freePort(),
    );
    const client = clientOf(first.url);
    expect(await client.get('/api/v2/version')).toEqual({ ok: true });
    const answer = client.get('/api/v2/version');
    await cut;
    first.server.closeAllConnections();
    await new Promise((resolve) => first.server.close(resolve));
    await sleep(100); // nothing listens for a while
    await listen(json, first.port);
    expect(await answer).toEqual({ ok: true });
  });

  it('is waited for while it says that it is not ready', async () => {
    let calls = 0;
    const { url } = await listen((request, response) => {
      calls += 1;
      (calls < 3 ? problem(503, 'not_ready', 'starting') : json)(request, response);
    });
    expect(await clientOf(url).get('/api/v2/version')).toEqual({ ok: true });
  });

  it('and cuts an answer in the middle is asked again, so half an answer is never taken for a whole one', async () => {
    let calls = 0;
    const { url } = await listen((_request, response) => {
      calls += 1;
      response.writeHead(200, { 'content-type': 'text/plain' });
      if (calls > 1) return void response.end('one\ntwo\nthree\n');
      response.write('one\ntwo\n', () => response.destroy());
    });
    expect(await clientOf(url).text(TEXT, DAG, ({ texts }) => readLastLines(texts, 10))).toEqual([
      'one',
      'two',
      'three',
    ]);
  });
});

describe('the token', () => {
  it('goes to no other host: a redirect is not followed', async () => {
    const seen: IncomingMessage[] = [];
    const elsewhere = await listen((request, response) => {
      seen.push(request);
      json(request, response);
    });
    const { url } = await listen(
      (_request, response) => void response.writeHead(302, { location: elsewhere.url }).end(),
    );
    await expect(clientOf(url).get('/api/v2/version')).rejects.toThrow(
      'does not answer as a svc control plane does (status 302)',
    );
    expect(seen).toEqual([]);
  });

  it('is sent with every request, which is a GET', async () => {
    const seen: IncomingMessage[] = [];
    const { url } = await listen((request, response) => {
      seen.push(request);
      json(request, response);
    });
    await clientOf(url).get('/api/v2/dags/{dag_id}/dagRuns', {
      path: { dag_id: '~' },
      query: { state: ['failed', 'queued'], limit: 1 },
    });
    expect(seen.map(({ method, url: path, headers }) => [method, path, headers.authorization])).toEqual([
      ['GET', '/api/v2/dags/~/dagRuns?state=failed&state=queued&limit=1', 'Bearer the-token'],
    ]);
  });

  it('is in no message', async () => {
    const { url } = await listen(problem(401, 'token_invalid', 'the token is not valid'));
    await expect(clientOf(url).get('/api/v2/version')).rejects.not.toThrow('the-token');
  });
});

describe('a refusal tells the agent what to do', () => {
  const message = async (handler: RequestListener, more: object = {}): Promise<string> => {
    const { url } = await listen(handler);
    const client = clientOf(url, more);
    return client.get('/api/v2/version').then(
      () => 'accepted',
      (error: Error) => error.message.replaceAll(url, 'URL'),
    );
  };

  it('an expired token, over HTTP', async () => {
    expect(await message(problem(401, 'token_expired', 'x'))).toBe(
      'not authenticated: the token has expired. Trying again does not help. A person gets a new one with: svc auth create-token --server URL --username <email>, then sends it in the header Authorization: Bearer <token>',
    );
  });

  it('an expired token, over stdio, and none at all', async () => {
    expect(await message(problem(401, 'token_expired', 'x'), { tokenSource: 'environment' })).toContain(
      'then sets it as SVC_TOKEN and starts svc-mcp again',
    );
    expect(
      await message(problem(401, 'not_authenticated', 'x'), { tokenSource: 'environment', token: undefined }),
    ).toContain('SVC_TOKEN is not set');
  });

  it('a missing permission', async () => {
    expect(await message(problem(403, 'permission_denied', 'missing permission read:dag'))).toContain(
      'not permitted: missing permission read:dag. Trying again does not help: an administrator has to',
    );
  });

  it('something that does not exist', async () => {
    expect(await message(problem(404, 'not_found', 'The Dag with ID: `x` was not found'))).toContain(
      'not found: The Dag with ID: `x` was not found. Check the ids',
    );
  });

  it('an outage, with the id of the request for the operator', async () => {
    expect(await message(problem(500, 'internal_error', 'something went wrong'))).toBe(
      'the control plane cannot answer right now: something went wrong (request r-1). Try again in a few seconds',
    );
  });

  it('something else at that address', async () => {
    const page: RequestListener = (_request, response) =>
      void response.setHeader('content-type', 'text/html').end('<h1>');
    expect(await message(page)).toContain(
      'does not answer as a svc control plane does (status 200): a person has to check',
    );
    const broken: RequestListener = (_request, response) =>
      void response.setHeader('content-type', 'application/json').end('{"a":');
    expect(await message(broken)).toContain('does not answer as a svc control plane does');
  });

  it('nobody there', async () => {
    const { url, server } = await listen(json);
    await new Promise((resolve) => server.close(resolve));
    const started = clientOf(url).get('/api/v2/version');
    await expect(started).rejects.toThrow(
      `the control plane at ${url} cannot be reached: nothing listens there. It may be restarting`,
    );
  });
});

describe('what is read', () => {
  it('ends when nobody waits for it any more', async () => {
    const abort = new AbortController();
    const { url } = await listen(() => abort.abort()); // never answers
    const answer = clientOf(url, { signal: abort.signal }).get('/api/v2/version');
    await expect(answer).rejects.toThrow('aborted');
  });

  it('is the end of a log of any size, with lines of any length', async () => {
    const { url } = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      for (let n = 0; n < 50; n += 1) response.write(`line ${n} ${'x'.repeat(200_000)}\n`);
      response.end('the end, without a line break');
    });
    const lines = await clientOf(url).text(TEXT, DAG, ({ texts }) => readLastLines(texts, 3));
    expect(lines.map((line) => [line.slice(0, 8), line.length <= 4_000])).toEqual([
      ['line 48 ', true],
      ['line 49 ', true],
      ['the end,', true],
    ]);
  });

  it('is the beginning of a text that has no end', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const { url } = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const timer = setInterval(() => response.write('é'.repeat(1_000)), 1);
      response.on('close', () => {
        clearInterval(timer);
        close();
      });
    });
    const { text, isCut } = await clientOf(url).text(TEXT, DAG, ({ texts }) => readBeginning(texts, 5_000));
    expect([text, isCut]).toEqual(['é'.repeat(5_000), true]);
    await closed; // the rest is not even received
  });
});

it('no more requests than allowed are under way, however many callers there are', async () => {
  let active = 0;
  let most = 0;
  const { url } = await listen((request, response) => {
    active += 1;
    most = Math.max(most, active);
    // The first ones stay until as many are there as may be.
    void eventually(() => most >= 4).then(() => {
      active -= 1;
      json(request, response);
    });
  });
  const limit = createLimit(4);
  const callers = Array.from({ length: 40 }, () => clientOf(url, { limit }).get('/api/v2/version'));
  expect(await Promise.all(callers)).toHaveLength(40);
  expect(most).toBe(4);
});
