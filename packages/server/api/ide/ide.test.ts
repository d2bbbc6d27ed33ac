/** The editor's calls: who may make them, what they refuse, and that nobody overwrites what they have not seen. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '@svc/testing/server/raw-http.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { Answer, TestServer } from '@svc/testing/server/test-server.ts';

let base: string;
let root: string;
let server: TestServer;
let token: string;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-ide-')));
  root = join(base, 'my-dags');
  mkdirSync(join(root, 'project'), { recursive: true });
  mkdirSync(join(root, '.git'));
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(base, 'outside', 'secret.txt'), 'SECRET');
  writeFileSync(join(root, '.git', 'config'), 'SECRET');
  writeFileSync(join(root, '.env'), 'SECRET');
  writeFileSync(join(root, 'project', 'dag.py'), 'x = 1\n');
  writeFileSync(join(root, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]));
  writeFileSync(join(root, 'huge.csv'), 'x'.repeat(1024 * 1024 + 1));
  symlinkSync(join(base, 'outside'), join(root, 'linked'));
  symlinkSync(join(base, 'outside', 'secret.txt'), join(root, 'linked.txt'));
  server = await startTestServer({ 'ui.workspace': root });
  token = await server.login();
});
afterAll(async () => {
  await server?.close();
  rmSync(base, { recursive: true, force: true });
});

const fileUrl = (path: string): string => `/api/v2/ide/file?path=${encodeURIComponent(path)}`;
const read = (path: string, as = token): Promise<Answer> => server.call(fileUrl(path), { token: as });
const write = (path: string, content: unknown, headers: Record<string, string>): Promise<Answer> =>
  server.call(fileUrl(path), { method: 'PUT', token, body: { content }, headers });
const rename = (from: string, to: string): Promise<Answer> =>
  server.call('/api/v2/ide/rename', { method: 'POST', token, body: { from, to } });
const codeOf = (answer: Answer): string =>
  `${answer.status} ${answer.json<{ type: string }>().type.replace('urn:svc:error:', '')}`;
const onDisk = (...parts: string[]): string => readFileSync(join(root, ...parts), 'utf8');
const NEW = { 'if-none-match': '*' };

describe('the workspace of the editor', () => {
  it('is listed without what is hidden; links are named, not followed; nothing says where it is', async () => {
    const answer = await server.call('/api/v2/ide/workspace', { token });
    expect(answer.json()).toEqual({
      name: 'my-dags',
      entries: [
        { path: 'project', kind: 'folder' },
        { path: 'project/dag.py', kind: 'file' },
        { path: 'huge.csv', kind: 'file' },
        { path: 'linked', kind: 'link' },
        { path: 'linked.txt', kind: 'link' },
        { path: 'picture.png', kind: 'file' },
      ],
      is_complete: true,
      units: null,
      runs_tests: false,
    });
    expect(answer.text).not.toContain(base);
  });

  it('is edited: made, read, saved, renamed, deleted, and each is in the audit log', async () => {
    const made = await write('new/dag.py', 'a = 1\n', NEW);
    expect([made.status, made.headers.get('etag')]).toEqual([201, made.json()['etag']]);
    const opened = (await read('new/dag.py')).json<{ content: string; etag: string }>();
    expect(opened).toEqual({ path: 'new/dag.py', content: 'a = 1\n', etag: made.json()['etag'] });
    const saved = await write('new/dag.py', 'a = 2\n', { 'if-match': opened.etag });
    expect(saved.status).toBe(200);
    expect(onDisk('new', 'dag.py')).toBe('a = 2\n');
    // Nothing is written, so the audit log has no entry of it.
    const again = await write('new/dag.py', 'a = 2\n', { 'if-match': String(saved.json()['etag']) });
    expect([again.status, again.json()]).toEqual([200, saved.json()]);
    expect((await rename('new/dag.py', 'new/other.py')).status).toBe(204);
    const etag = String(saved.json()['etag']);
    const path = fileUrl('new/other.py');
    expect((await server.call(path, { method: 'DELETE', token, headers: { 'if-match': etag } })).status).toBe(204);
    expect(codeOf(await read('new/other.py'))).toBe('404 not_found');
    expect((await server.call(fileUrl('new'), { method: 'DELETE', token })).status).toBe(204);
    const logged = await server.call('/api/v2/eventLogs?event_pattern=workspace&order_by=event_log_id', { token });
    const events = logged.json<{ event_logs: { event: string }[] }>().event_logs.map(({ event }) => event);
    expect(events.filter((event) => event.includes('workspace'))).toEqual([
      'put_workspace_file',
      'put_workspace_file',
      'rename_workspace_file',
      'delete_workspace_file',
      'delete_workspace_file',
    ]);
  });

  it('keeps two tabs from overwriting each other', async () => {
    const { etag } = (await read('project/dag.py')).json<{ etag: string }>();
    expect((await write('project/dag.py', 'first\n', { 'if-match': etag })).status).toBe(200);
    expect(codeOf(await write('project/dag.py', 'second\n', { 'if-match': etag }))).toBe('412 precondition_failed');
    expect(codeOf(await write('project/dag.py', 'third\n', NEW))).toBe('409 already_exists');
    expect(codeOf(await write('project/dag.py', 'fourth\n', {}))).toBe('428 precondition_required');
    expect(codeOf(await write('project/dag.py', 'x', { 'if-match': '*' }))).toBe('412 precondition_failed');
    expect(codeOf(await write('project/dag.py', 'x', { 'if-match': etag, ...NEW }))).toBe('428 precondition_required');
    const stale = { method: 'DELETE', token, headers: { 'if-match': etag } };
    expect(codeOf(await server.call(fileUrl('project/dag.py'), stale))).toBe('412 precondition_failed');
    expect(onDisk('project', 'dag.py')).toBe('first\n');
  });

  it('says that nothing compiles it here', async () => {
    const answer = await server.call('/api/v2/ide/compile', {
      method: 'POST',
      token,
      body: { path: 'project/dag.py' },
    });
    expect(codeOf(answer)).toBe('409 conflict');
    expect(answer.text).toContain('svc lite');
  });

  it('says that nothing runs its tests here, and refuses an order that is not one', async () => {
    const path = 'project/dag.py';
    const order = (body: object) => server.call('/api/v2/ide/test', { method: 'POST', token, body });
    for (const answer of [
      await order({ kind: 'run', path, dag_id: 'x' }),
      await order({ kind: 'pytest', path, test: 'TestLoad::test_empty' }),
      await server.call('/api/v2/ide/test', { token }),
      await server.call('/api/v2/ide/test', { method: 'DELETE', token }),
    ]) {
      expect(codeOf(answer)).toBe('409 conflict');
      expect(answer.json()['detail']).toContain('svc lite');
    }
    for (const body of [
      { kind: 'run', path },
      { kind: 'run', path: '../x.py', dag_id: 'x' },
      { kind: 'pytest', path, test: '--pdb' },
      { kind: 'pytest', path, test: 'test_a or test_b' },
    ])
      expect(codeOf(await order(body))).toBe('400 invalid_request');
  });
});

describe('nothing outside the workspace can be had:', () => {
  const OUTSIDE = [
    '../outside/secret.txt',
    'project/../../outside/secret.txt',
    '..',
    '.',
    './project/dag.py',
    '/etc/passwd',
    '//etc/passwd',
    '..\\outside\\secret.txt',
    'C:\\Windows\\win.ini',
    'C:/Windows/win.ini',
    '\\\\server\\share',
    '.git/config',
    '.env',
    '.svc/secrets',
    'project/.hidden/x',
    'project/__pycache__/x.pyc',
    'NUL',
    'con.py',
    'project/COM1',
    'a\0b',
    'project/dag.py\0.txt',
    'file:///etc/passwd',
    '..%2foutside%2fsecret.txt',
    'linked/secret.txt',
    'linked.txt',
  ];

  it.each(OUTSIDE)('%j is neither read, written, renamed to nor from, nor deleted', async (path) => {
    const tries = {
      read: await read(path),
      make: await write(path, 'mine', NEW),
      save: await write(path, 'mine', { 'if-match': '"any"' }),
      to: await rename('huge.csv', path),
      from: await rename(path, 'stolen.txt'),
      delete: await server.call(fileUrl(path), { method: 'DELETE', token, headers: { 'if-match': '"any"' } }),
    };
    for (const [what, answer] of Object.entries(tries)) {
      expect(answer.text, what).not.toContain('SECRET');
      expect([400, 404, 409, 412], `${what}: ${answer.text}`).toContain(answer.status);
    }
    expect(readFileSync(join(base, 'outside', 'secret.txt'), 'utf8')).toBe('SECRET');
    expect(onDisk('huge.csv').length).toBe(1024 * 1024 + 1);
  });

  it.each(['%2e%2e/outside/secret.txt', '%252e%252e%252foutside', '\u2025/outside/secret.txt'])(
    '%j is only an odd name, and stays in the workspace',
    async (path) => {
      expect(codeOf(await read(path))).toBe('404 not_found');
      expect((await write(path, 'mine', NEW)).status).toBe(201);
      expect(onDisk(...path.split('/'))).toBe('mine');
      expect(readFileSync(join(base, 'outside', 'secret.txt'), 'utf8')).toBe('SECRET');
    },
  );

  it.each([
    '/api/v2/ide/file?path=..%2foutside%2fsecret.txt',
    '/api/v2/ide/file?path=%2e%2e/outside/secret.txt',
    '/api/v2/ide/file?path=project%2f..%2f..%2foutside%2fsecret.txt',
    '/api/v2/ide/file?path=..%5coutside%5csecret.txt',
    '/api/v2/ide/file?path=..%c0%afoutside%c0%afsecret.txt',
    '/api/v2/ide/file?path=project/dag.py&path=../outside/secret.txt',
    '/api/v2/ide/file?path[]=../outside/secret.txt',
    '/api/v2/ide/../ide/file?path=../outside/secret.txt',
    '/ide/static/../../../package.json',
    '/ide/static/..%2f..%2f..%2fpackage.json',
    '/ide/static/%2e%2e/%2e%2e/package.json',
    '/ide/monaco/../../../package.json',
    '/ide/monaco/..%2f..%2fpackage.json',
    '/ide/monaco//etc/passwd',
  ])('however it is encoded: %s', async (path) => {
    const answer = await rawRequest(server.url, { path, method: 'GET', headers: { authorization: `Bearer ${token}` } });
    expect([400, 404], answer.text).toContain(answer.status);
    expect(answer.text).not.toContain('SECRET');
  });
});

describe('a file of the workspace that is no text', () => {
  it('is refused with what it is', async () => {
    expect(codeOf(await read('picture.png'))).toBe('415 not_text');
    expect(codeOf(await read('huge.csv'))).toBe('413 file_too_large');
    expect(codeOf(await read('project'))).toBe('409 conflict');
    expect(codeOf(await write('big.txt', 'x'.repeat(1024 * 1024 + 1), NEW))).toBe('413 file_too_large');
    expect(codeOf(await write('nul.txt', 'a\0b', NEW))).toBe('400 invalid_request');
    expect(codeOf(await write('big.txt', 'x'.repeat(8 * 1024 * 1024), NEW))).toBe('413 body_too_large');
    expect(codeOf(await write('number.txt', 5, NEW))).toBe('400 invalid_request');
  });

  it('but all that fits is taken, however long it is in JSON', async () => {
    const content = '\u0001'.repeat(1024 * 1024);
    expect((await write('controls.txt', content, NEW)).status).toBe(201);
    expect(onDisk('controls.txt')).toBe(content);
  });
});

describe('in the editor, whoever', () => {
  it('lacks write:dag may not even look', async () => {
    await server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
    const viewer = await server.login('viewer@example.com');
    expect(codeOf(await read('project/dag.py', viewer))).toBe('403 permission_denied');
    const listed = await server.call('/api/v2/ide/workspace', { token: viewer });
    expect([codeOf(listed), listed.json()['detail']]).toEqual([
      '403 permission_denied',
      'missing permission write:dag',
    ]);
    const order = { kind: 'run', path: 'project/dag.py', dag_id: 'x' };
    for (const options of [{ method: 'POST', body: order }, {}, { method: 'DELETE' }])
      expect(codeOf(await server.call('/api/v2/ide/test', { ...options, token: viewer }))).toBe(
        '403 permission_denied',
      );
    await server.addUser({ email: 'operator@example.com', roles: ['operator'] });
    expect((await read('project/dag.py', await server.login('operator@example.com'))).status).toBe(200);
  });

  it('is of another tenant finds no workspace, administrator or not', async () => {
    await server.addUser({ email: 'other@example.com', roles: ['admin'], tenant: 'other' });
    const other = await server.login('other@example.com', 'other');
    expect(codeOf(await read('project/dag.py', other))).toBe('404 not_found');
    const calls = [
      ['/api/v2/ide/workspace', {}],
      [fileUrl('made-by-other.py'), { method: 'PUT', body: { content: '' }, headers: NEW }],
      [fileUrl('project'), { method: 'DELETE' }],
      ['/api/v2/ide/rename', { method: 'POST', body: { from: 'project', to: 'taken' } }],
      ['/api/v2/ide/compile', { method: 'POST', body: { path: 'project/dag.py' } }],
      ['/api/v2/ide/test', { method: 'POST', body: { kind: 'pytest', path: 'project/dag.py' } }],
      ['/api/v2/ide/test', {}],
      ['/api/v2/ide/test', { method: 'DELETE' }],
    ] as const;
    for (const [path, options] of calls) {
      expect(codeOf(await server.call(path, { ...options, token: other })), path).toBe('404 not_found');
    }
  });

  it('asks from another site with the cookie changes nothing', async () => {
    const headers = { cookie: `_token=${token}`, 'sec-fetch-site': 'cross-site', ...NEW };
    const answer = await server.call(fileUrl('planted.py'), { method: 'PUT', body: { content: '' }, headers });
    expect(codeOf(answer)).toBe('403 cross_site_request');
  });
});

describe('the page of the editor', () => {
  it('comes with what it loads, under a policy without blobs, inline scripts or other hosts', async () => {
    const page = await server.call('/ide');
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('blob:');
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)/);
    const loaded = [...page.text.matchAll(/(?:src|href)="(ide\/static\/[^"]+)"/g)].map((match) => `/${match[1]}`);
    expect(loaded.length).toBeGreaterThan(1);
    const imported = (await server.call('/ide/static/main.js')).text.matchAll(/from '\.\/([^']+)'/g);
    for (const path of [...loaded, ...[...imported].map((match) => `/ide/static/${match[1]}`)]) {
      expect((await server.call(path)).status, path).toBe(200);
    }
    const loader = await server.call('/ide/monaco/loader.js');
    expect([loader.status, loader.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    const workers = JSON.parse(
      /data-workers="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&#34;', '"') ?? '{}',
    ) as object;
    expect(Object.keys(workers)).toContain('editor');
    for (const name of Object.values(workers) as string[]) {
      const worker = await server.call(`/ide/monaco/${name}`, { method: 'HEAD' });
      expect([worker.status, worker.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });
});

describe('the editor without its settings:', () => {
  it('a workspace: the page says how to get one, the calls find nothing', async () => {
    const bare = await startTestServer();
    try {
      const page = await bare.call('/ide');
      expect([page.status, page.text.includes('svc lite my-dags')]).toEqual([200, true]);
      const admin = await bare.login();
      expect(codeOf(await bare.call('/api/v2/ide/workspace', { token: admin }))).toBe('404 not_found');
      expect(codeOf(await bare.call(fileUrl('a.py'), { token: admin }))).toBe('404 not_found');
    } finally {
      await bare.close();
    }
  });

  it('the code editor: the page says how to install it', async () => {
    const bare = await startTestServer({ 'ui.workspace': root, 'ui.monaco-dir': join(base, 'nowhere') });
    try {
      const page = await bare.call('/ide');
      expect([page.status, page.text.includes('ui.monaco_dir')]).toEqual([200, true]);
      expect((await bare.call('/ide/monaco/loader.js')).status).toBe(404);
    } finally {
      await bare.close();
    }
  });
});
