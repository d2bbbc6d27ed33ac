import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { batches } from './bulk.ts';
import { createClient } from './client.ts';
import { openCredentials } from './credentials.ts';
import { isDueForRenewal, readClaims } from './token-claims.ts';

/** Stands for whatever may be at the other end: our own control plane is tested with, elsewhere. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { method: string; url: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      authorization: request.headers.authorization,
    });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  closers.push(() => server.close());
  return { url: `http://127.0.0.1:${port}`, requests };
}

const json = (response: ServerResponse, status: number, body: unknown, type = 'application/json'): void => {
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
};

const closers: (() => void)[] = [];
let directory: string;
let env: Record<string, string>;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-client-'));
  env = { XDG_CONFIG_HOME: directory };
});

afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(directory, { recursive: true, force: true });
});

const tokenOf = (claims: object): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
const seconds = (): number => Math.floor(Date.now() / 1_000);

describe('a stored login', () => {
  it('is kept where only its owner can read it', () => {
    const credentials = openCredentials(env);
    credentials.save('http://a', { token: 't' });
    expect(statSync(credentials.file).mode & 0o777).toBe(0o600);
    expect(openCredentials(env).find('http://a')).toEqual({ token: 't' });
  });

  it('never goes to another server than the one it came from', async () => {
    const other = await serve((_, response) => json(response, 200, { users: [], total_entries: 0 }));
    openCredentials(env).save('http://127.0.0.1:1', { token: 'secret' });
    await runSvc(['users', 'list', '--server', other.url], { env });
    expect(other.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  it('does not follow a redirect, which would take the token elsewhere', async () => {
    const elsewhere = await serve((_, response) => json(response, 200, {}));
    const server = await serve((_, response) => response.writeHead(302, { location: elsewhere.url }).end());
    const { code, stderr } = await runSvc(['users', 'list', '--server', server.url], {
      env: { ...env, SVC_TOKEN: 't' },
    });
    expect(code).toBe(5);
    expect(stderr).toContain(`a redirect to ${elsewhere.url}`);
    expect(elsewhere.requests).toEqual([]);
  });

  it('is renewed shortly before it expires, and the new token is kept', async () => {
    const old = tokenOf({ iat: seconds() - 3_500, exp: seconds() + 100 });
    const renewed = tokenOf({ iat: seconds(), exp: seconds() + 3_600 });
    const server = await serve((request, response) =>
      json(response, 200, request.method === 'POST' ? { access_token: renewed } : { users: [], total_entries: 0 }),
    );
    openCredentials(env).save(server.url, { token: old });
    openCredentials(env).save('http://other', { token: 'x' });
    await runSvc(['users', 'list', '--server', server.url], { env });
    expect(server.requests.map(({ method, authorization }) => [method, authorization])).toEqual([
      ['POST', `Bearer ${old}`],
      ['GET', `Bearer ${renewed}`],
    ]);
    expect(openCredentials(env).find(server.url)).toEqual({ token: renewed });
    expect(openCredentials(env).current()).toBe('http://other');
  });

  it('in a damaged file is an error that says what to do, not a login lost in silence', async () => {
    mkdirSync(join(directory, 'svc'));
    writeFileSync(join(directory, 'svc', 'credentials.json'), '{"servers":');
    const { code, stderr } = await runSvc(['users', 'list'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('remove that file and log in again');
  });

  it('can be forgotten one by one', () => {
    const credentials = openCredentials(env);
    credentials.save('http://a', { token: 'a' });
    credentials.save('http://b', { token: 'b' });
    expect(credentials.forget('http://b')).toBe(true);
    expect(credentials.forget('http://b')).toBe(false);
    expect(credentials.current()).toBeUndefined();
    expect(JSON.parse(readFileSync(credentials.file, 'utf8'))).toEqual({ servers: { 'http://a': { token: 'a' } } });
  });
});

describe('a token', () => {
  it.each([
    [{ iat: 0, exp: 1_000 }, 700, false],
    [{ iat: 0, exp: 1_000 }, 800, true],
    [{ iat: 0, exp: 1_000 }, 1_000, false],
    [{}, 800, false],
  ])('%j at second %i is due for renewal: %s', (claims, now, due) => {
    const read = readClaims(tokenOf(claims));
    expect(read && isDueForRenewal(read, now)).toBe(due);
  });

  it('that is no token says nothing', () => {
    expect(readClaims('abc')).toBeUndefined();
  });
});

describe('a list', () => {
  it('is read to its end, page by page', async () => {
    const all = Array.from({ length: 1_203 }, (_, index) => index);
    const server = await serve((request, response) => {
      const query = new URL(request.url ?? '', 'http://x').searchParams;
      const offset = Number(query.get('offset'));
      json(response, 200, { users: all.slice(offset, offset + Number(query.get('limit'))), total_entries: all.length });
    });
    expect(await createClient({ server: server.url }).list('/api/v2/users', 'users')).toEqual(all);
    expect(server.requests).toHaveLength(3);
  });

  it('that shrinks while it is read ends nevertheless', async () => {
    const server = await serve((request, response) => {
      const isFirst = request.url?.includes('offset=0') === true;
      json(response, 200, { users: isFirst ? [1] : [], total_entries: 5 });
    });
    expect(await createClient({ server: server.url }).list('/api/v2/users', 'users')).toEqual([1]);
  });
});

describe('a failure', () => {
  const problem = (status: number, code: string) => (response: ServerResponse) =>
    json(
      response,
      status,
      { type: `urn:svc:error:${code}`, title: 'T', status, detail: `about ${code}`, instance: '/' },
      'application/problem+json',
    );

  it.each([
    [400, 'invalid_request', 2, 'about invalid_request'],
    [401, 'not_authenticated', 3, 'svc auth login'],
    [403, 'permission_denied', 3, 'about permission_denied'],
    [404, 'not_found', 4, 'about not_found'],
    [409, 'conflict', 1, 'about conflict'],
    [500, 'internal_error', 1, 'about internal_error'],
    [503, 'database_unavailable', 5, 'about database_unavailable'],
    [503, 'encryption_unavailable', 1, 'about encryption_unavailable'],
  ])('%i %s ends with exit code %i', async (status, code, exitCode, text) => {
    const server = await serve((_, response) => problem(status, code)(response));
    const outcome = await runSvc(['users', 'list', '--server', server.url], { env });
    expect(outcome.code).toBe(exitCode);
    expect(outcome.stderr).toContain(text);
    expect(outcome.stdout).toBe('');
  });

  it('to connect says that nothing listens there and how to start something', async () => {
    const server = await serve(() => {});
    for (const close of closers.splice(0)) close();
    const { code, stderr } = await runSvc(['users', 'list', '--server', server.url], { env });
    expect(code).toBe(5);
    expect(stderr).toContain('nothing listens there');
    expect(stderr).toContain('svc lite');
  });

  it('to be a control plane at all is told from a refusal', async () => {
    const server = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'));
    const { code, stderr } = await runSvc(['users', 'list', '--server', server.url], { env });
    expect(code).toBe(5);
    expect(stderr).toContain('does not answer as a svc control plane does');
  });

  it('from the server cannot drive the terminal', async () => {
    const server = await serve((_, response) => problem(409, '\u001b]0;x\u0007')(response));
    const { stderr } = await runSvc(['users', 'list', '--server', server.url], { env });
    expect(stderr).toContain(String.raw`\u001b]0;x\u0007`);
  });

  it.each(['ftp://x', 'localhost:8080', 'http://user:pw@host', ''])('of --server %s is wrong usage', async (server) => {
    expect((await runSvc(['users', 'list', '--server', server], { env })).code).toBe(2);
  });
});

describe('an import too large for one request', () => {
  it('is cut into several, each below the limit, none lost', () => {
    const entities = Array.from({ length: 50 }, (_, index) => ({ index, text: 'x'.repeat(index * 10) }));
    const cut = batches(entities, 600);
    expect(cut.flat()).toEqual(entities);
    expect(cut.length).toBeGreaterThan(10);
    expect(cut.every((batch) => batch.length === 1 || JSON.stringify(batch).length <= 602)).toBe(true);
  });
});
