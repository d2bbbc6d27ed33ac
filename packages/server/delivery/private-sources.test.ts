/** A private repository over https, behind a token, served by git's own program. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dagText } from '@svc/testing/compiler/workspace.ts';
import { startBundleServer } from '@svc/testing/server/bundle-server.ts';
import type { BundleServer } from '@svc/testing/server/bundle-server.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import type { GitRepository } from '@svc/testing/server/git-repository.ts';
import { makeAuthority, makeCertificate } from '@svc/testing/tls/certificates.ts';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

const TOKEN = 'canary-token-4f1d9c2ab7';

let server: BundleServer;
let repository: GitRepository;
let forge: ReturnType<typeof createServer>;
let folder: string;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-forge-'));
  const authority = makeAuthority(folder);
  const { cert, key } = makeCertificate(folder, authority, { name: 'forge' });
  vi.stubEnv('GIT_SSL_CAINFO', authority.cert);
  repository = createGitRepository();
  forge = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) =>
    serve(request, response),
  );
  await new Promise<void>((resolve) => void forge.listen(0, '127.0.0.1', resolve));
  const address = forge.address();
  url = `https://localhost:${typeof address === 'object' ? address?.port : ''}/dags.git`;
  server = await startBundleServer();
});
afterAll(async () => {
  await server?.close();
  forge?.close();
  repository?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

/** As `git http-backend` behind a web server that asks for a password. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const expected = `Basic ${Buffer.from(`ada:${TOKEN}`).toString('base64')}`;
  if (request.headers.authorization !== expected) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' }).end();
    return;
  }
  const { pathname, search } = new URL(request.url ?? '/', 'https://localhost');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: dirname(repository.url),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(backend.stdin);
  const parts: Buffer[] = [];
  backend.stdout.on('data', (part: Buffer) => parts.push(part));
  backend.once('close', () => {
    const answer = Buffer.concat(parts);
    const end = answer.indexOf('\r\n\r\n');
    const headers = answer
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string]);
    const status = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.end(answer.subarray(end + 4));
  });
}

it('a private repository is deployed with the token of a connection, which appears in no log and no answer', async () => {
  const pushed = repository.push({ 'dags/a.py': dagText('private_a') });
  const connection = { connection_id: 'forge', conn_type: 'git', login: 'ada', password: 'wrong' };
  await server.api('POST', '/connections', connection);
  const refused = await server.addBundle('private', url, { conn_id: 'forge' });
  expect(refused.sync).toMatchObject({
    state: 'failed',
    text: expect.stringMatching(/git ls-remote failed.*Authentication failed/) as string,
  });
  await server.api('PATCH', '/connections/forge', { connection_id: 'forge', conn_type: 'git', password: TOKEN });
  expect(await server.sync('private')).toMatchObject({ current: { version: pushed }, sync: { state: 'done' } });
  expect(await server.dags()).toEqual({ private_a: 1 });
  const shown = JSON.stringify([
    server.logLines,
    await server.api('GET', '/bundles'),
    await server.api('GET', '/eventLogs'),
  ]);
  expect(shown).not.toContain(TOKEN);
  const files = readFileSync(join(server.cache, await tenantId(), 'private', 'git', 'config'), 'utf8');
  expect(files).not.toContain(TOKEN);
});

it.each([
  ['a password in the address', 'https://ada:secret@forge.invalid/x.git', /conn_id/],
  ['a protocol that runs a program', 'ext::sh -c touch', /space or a control|https:/],
  ['plain http', 'http://forge.invalid/x.git', /write https/],
  ['a path that no operator has allowed', '/etc/x.git', /bundles.allowed_paths/],
  ['a path that leads out of an allowed one', `${tmpdir()}/../etc/x.git`, /bundles.allowed_paths/],
])('a source with %s is refused before anything is stored', async (_what, source, reason) => {
  const answer = await server.send('POST', '/bundles', { name: 'bad', kind: 'git', url: source });
  expect(answer).toMatchObject({ status: 400, text: expect.stringMatching(reason) as string });
});

async function tenantId(): Promise<string> {
  const tenant = await server.db.shared
    .selectFrom('tenants')
    .select('id')
    .where('name', '=', 'default')
    .executeTakeFirstOrThrow();
  return tenant.id;
}
