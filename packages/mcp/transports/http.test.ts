import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { eventually } from '@svc/testing/eventually.ts';
import { PROGRAM_ARGUMENTS } from '@svc/testing/node-arguments.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN, NEWEST_REVISION, callTool, connectHttp, readJson } from '@svc/testing/mcp/connect.ts';

let control: TestServer;
let token: string;
let svcMcp: { child: ChildProcess; url: string; stderr: () => string };
beforeAll(async () => {
  control = await startTestServer({ 'scheduler.enabled': 'false' });
  token = await control.login();
  // As its users start it, with a process credential around that it must never use.
  svcMcp = await startProcess(['--transport', 'http', '--listen', '127.0.0.1:0'], {
    SVC_SERVER_URL: control.url,
    SVC_TOKEN: token,
  });
});
afterAll(async () => {
  svcMcp?.child.kill('SIGTERM');
  await control?.close();
});

async function startProcess(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [...PROGRAM_ARGUMENTS, MAIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  for await (const _ of child.stderr.iterator({ destroyOnReturn: false })) if (stderr.includes('"listening"')) break;
  const line = stderr.split('\n').find((text) => text.includes('"listening"')) ?? '{}';
  const { url } = JSON.parse(line) as { url: string };
  return { child, url: url.replace(/\/mcp$/, ''), stderr: () => stderr };
}

type Sent = { method?: string; path?: string; headers?: Record<string, string | string[]>; body?: string };
const LIST = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_dags', arguments: {} },
});
const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** Not with fetch, which sets Host by itself. */
async function send({ method = 'POST', path = '/mcp', headers = {}, body = LIST }: Sent) {
  const { hostname, port } = new URL(svcMcp.url);
  const sent = httpRequest({ hostname, port, method, path, headers: { ...ACCEPT, ...headers } });
  sent.end(method === 'POST' ? body : undefined);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, text };
}
const withToken = (headers: Record<string, string | string[]> = {}) => ({
  authorization: `Bearer ${token}`,
  ...headers,
});

describe('without a bearer', () => {
  it('a request is refused with 401 and a challenge, although the process has a token', async () => {
    for (const headers of [
      {},
      { authorization: 'Basic dTpw' },
      { authorization: 'Bearer ' },
      { cookie: `_token=${token}` },
    ]) {
      const answer = await send({ headers });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="svc"']);
      expect(JSON.parse(answer.text)).toMatchObject({
        jsonrpc: '2.0',
        error: { message: expect.any(String) as string },
        id: null,
      });
    }
    expect((await send({ path: `/mcp?token=${token}` })).status).toBe(401);
    expect((await send({ method: 'GET' })).status).toBe(401);
  });

  it('an official client is told so', async () => {
    await expect(connectHttp(svcMcp.url, '')).rejects.toThrow(/401|bearer|auth/i);
  });

  it('health is answered', async () => {
    expect(await send({ method: 'GET', path: '/healthz' })).toMatchObject({ status: 200, text: 'ok\n' });
    expect((await send({ method: 'POST', path: '/healthz' })).status).toBe(405);
  });
});

describe('with a bearer that the control plane does not take', () => {
  it('a request gets 401 and what is wrong with it; it is not replaced by the one of the process', async () => {
    const answer = await send({ headers: { authorization: 'Bearer abc.def.ghi' } });
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="svc", error="invalid_token", error_description="the token is not valid"',
    ]);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: { message: expect.stringContaining('not authenticated') as string },
    });
    // Before anything of it is read: a request that could not be served either is refused for its token.
    expect((await send({ headers: { authorization: 'Bearer abc.def.ghi' }, body: '{' })).status).toBe(401);
  });

  it('an official client renews it and goes on', async () => {
    const ended = await control.login();
    await control.call('/api/v2/auth/logout', { method: 'GET', token: ended });
    const tokens = [ended, token];
    const faults: (string | null)[] = [];
    const client = new Client({ name: 'renews', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    const authProvider = {
      token: async () => tokens[0],
      onUnauthorized: async ({ response }: { response: Response }) => {
        faults.push(response.headers.get('www-authenticate'));
        tokens.shift();
      },
    };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${svcMcp.url}/mcp`), { authProvider }));
    expect((await callTool(client, 'list_dags', {})).text).toContain('There are no DAGs');
    expect(faults).toEqual([expect.stringContaining('error_description="the session of the token was ended"')]);
    await client.close();
  });
});

it('with its bearer a request is served, and no session is opened', async () => {
  const answer = await send({ headers: withToken() });
  expect(answer.status).toBe(200);
  expect(answer.text).toContain('There are no DAGs');
  expect(answer.headers['mcp-session-id']).toBeUndefined();
  expect(answer.headers['cache-control']).toContain('no-');
});

it.each(['auto', 'legacy'] as const)('an official client that negotiates %s lists, calls and reads', async (mode) => {
  const client = await connectHttp(svcMcp.url, token, mode);
  expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? NEWEST_REVISION : '2025-11-25');
  expect((await client.listTools()).tools).toHaveLength(3);
  expect((await callTool(client, 'list_dags', {})).structured).toMatchObject({ total: 0 });
  expect(await readJson(client, 'dag://list')).toMatchObject({ dags: [] });
  await client.close();
});

describe('a request that a browser could have been made to send', () => {
  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin it would name', { origin: 'null' }],
    ['a name that was made to point here', { host: 'evil.example' }],
    ['the same with its own origin', { host: 'evil.example:80', origin: 'http://evil.example' }],
  ])('%s is refused', async (_name, headers) => {
    expect((await send({ headers: withToken(headers) })).status).toBe(403);
  });

  it('a page on this machine is not refused, but gets no leave to read across origins', async () => {
    const answer = await send({ headers: withToken({ origin: 'http://localhost:6274' }) });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

const nestedCall = (depth: number): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_dags","arguments":{"x":${'['.repeat(depth)}${']'.repeat(depth)}}}}`;

describe('an odd request is refused', () => {
  it.each([
    ['two bearers', { headers: { authorization: ['Bearer a', 'Bearer b'] } }, 400],
    ['another path', { path: '/' }, 404],
    ['a path that only begins so', { path: '/mcp/x' }, 404],
    ['GET', { method: 'GET' }, 405],
    ['DELETE', { method: 'DELETE' }, 405],
    ['no JSON', { body: '{' }, 400],
    ['another type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['a body of a megabyte', { body: JSON.stringify({ x: 'y'.repeat(1_000_000) }) }, 413],
    ['arguments nested 100,000 deep', { body: nestedCall(100_000) }, 400],
    [
      'a batch of a thousand',
      { body: JSON.stringify(Array.from({ length: 1_000 }, () => JSON.parse(LIST) as object)) },
      400,
    ],
  ])('%s', async (_name, sent: Sent, status) => {
    const answer = await send({ ...sent, headers: withToken(sent.headers) });
    expect(answer.status).toBe(status);
    expect(answer.headers.allow).toBe(status === 405 ? 'POST' : undefined);
  });

  it('and the next one is served', async () => {
    expect((await send({ headers: withToken() })).status).toBe(200);
  });
});

it('a port that is taken ends the process with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const child = spawn(process.execPath, [...PROGRAM_ARGUMENTS, MAIN, '--transport', 'http'], {
    env: { PATH: process.env['PATH'], SVC_MCP_LISTEN: `127.0.0.1:${port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  other.close();
  expect([code, stderr]).toEqual([
    2,
    `svc-mcp: cannot listen on 127.0.0.1:${port}: the port is taken by another program: stop that one, or choose another address with --listen or SVC_MCP_LISTEN\n`,
  ]);
});

it('SIGTERM lets a call under way finish, and no token was ever logged', async () => {
  const own = await startProcess(['--transport', 'http', '--listen', '127.0.0.1:0'], { SVC_SERVER_URL: control.url });
  const client = await connectHttp(own.url, token);
  const answer = callTool(client, 'list_dags', {});
  await eventually(() => own.stderr().includes('"call"'));
  own.child.kill('SIGTERM');
  const [code] = (await once(own.child, 'close')) as [number];
  expect((await answer).isError).toBe(false);
  expect(code).toBe(0);
  for (const log of [own.stderr(), svcMcp.stderr()]) {
    expect(log).toContain('"what":"list_dags"');
    expect(log).not.toContain(token.slice(-20));
  }
});
