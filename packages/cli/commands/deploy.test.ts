/** `svc deploy` and `svc dags` against a real control plane, with the real compiler. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dagText, workspaceOf, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { copyDag } from '@svc/testing/server/copied-dags.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';

let server: TestServer;
let config: string;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer();
  config = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  env = {
    XDG_CONFIG_HOME: config,
    SVC_SERVER_URL: server.url,
    SVC_TOKEN: await server.login(),
    SVC_PYTHON: await pythonEnvironment(),
    PATH: process.env['PATH'] ?? '',
    GIT_CEILING_DIRECTORIES: tmpdir(),
  };
});
afterAll(async () => {
  await server.close();
  rmSync(config, { recursive: true, force: true });
});
beforeEach(async () => {
  await server.db.shared.deleteFrom('import_errors').execute();
  await server.db.shared.deleteFrom('dags').execute();
});

const svc = (...argv: string[]) => runSvc(argv, { env });
const call = async <T>(path: string): Promise<T> =>
  (await server.call(path, { token: env['SVC_TOKEN'] ?? '' })).json<T>();
const jsonOf = async <T>(...argv: string[]): Promise<T> => {
  const { code, stdout, stderr } = await svc(...argv, '--json');
  if (code !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
};
const importErrors = async () =>
  (await call<{ import_errors: { bundle_name: string; filename: string }[] }>('/api/v2/importErrors')).import_errors;

describe('svc deploy', () => {
  it('registers a project, and says when there was nothing new', async () => {
    const root = workspaceOf({ 'etl/svc.yaml': 'owner: me', 'etl/dag.py': dagText('etl') });
    const first = await svc('deploy', join(root, 'etl'));
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^FROM +DAG +STATUS +VERSION\netl +etl +created +v1\n$/);
    expect((await svc('deploy', join(root, 'etl'))).stdout).toMatch(/etl +etl +unchanged +v1/);
    writeFiles(root, { 'etl/dag.py': dagText('etl', ['extract', 'more']) });
    expect((await svc('deploy', join(root, 'etl'))).stdout).toMatch(/etl +etl +created +v2/);
    expect(await call('/api/v2/dags/etl')).toMatchObject({
      owners: ['me'],
      fileloc: join(root, 'etl/dag.py'),
      relative_fileloc: 'dag.py',
      bundle_name: 'etl',
    });
  });

  it('remembers the commit and the address of its repository, without the password in it', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl') });
    const git = (...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
        cwd: root,
        encoding: 'utf8',
      });
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    git('remote', 'add', 'origin', 'https://ana:s3cret@git.example.com/dags.git');
    await svc('deploy', join(root, 'etl'));
    const commit = git('rev-parse', 'HEAD').trim();
    expect(await jsonOf('dags', 'versions', 'etl')).toMatchObject([
      { version_number: 1, bundle_version: commit, bundle_url: 'https://git.example.com/dags.git' },
    ]);
  });

  it('reads variables of the control plane while it compiles, and stores what it read with the version', async () => {
    const text = 'from airflow.sdk import DAG, Variable\ndag = DAG("etl", schedule=Variable.get("when", "@daily"))\n';
    const root = workspaceOf({ 'etl/dag.py': text });
    const set = (value: string) =>
      server.call('/api/v2/variables', { method: 'POST', token: env['SVC_TOKEN'] ?? '', body: { key: 'when', value } });
    await set('@hourly');
    expect(await svc('deploy', join(root, 'etl'))).toMatchObject({ code: 0, stderr: '' });
    expect(await call('/api/v2/dags/etl')).toMatchObject({ timetable_summary: '0 * * * *' });
    const stored = server.db.shared.selectFrom('dag_versions').select('values_read').where('dag_id', '=', 'etl');
    expect(await stored.execute()).toEqual([
      { values_read: [{ kind: 'variable', name: 'when', fingerprint: expect.stringMatching(/^[\w-]{22}$/) }] },
    ]);
    await set('@weekly');
    expect((await svc('deploy', join(root, 'etl'))).stdout).toMatch(/etl +etl +created +v2/);
    await server.call('/api/v2/variables/when', { method: 'DELETE', token: env['SVC_TOKEN'] ?? '' });
  });

  it('does not deploy a whole workspace by accident', async () => {
    const root = workspaceOf({ 'a/dag.py': dagText('a'), 'b/dag.py': dagText('b') });
    expect(await svc('deploy', root)).toMatchObject({ code: 2, stderr: expect.stringMatching(/a, b[\s\S]*--all/) });
    expect((await call<{ total_entries: number }>('/api/v2/dags')).total_entries).toBe(0);
  });

  it('deploys a repository whole, for it is one thing', async () => {
    const root = workspaceOf({
      'shop/dags/one.py': dagText('one'),
      'shop/dags/deep/two.py': `from lib.words import WORD\n${dagText('two')}`,
      'shop/lib/words.py': 'WORD = 1',
    });
    const { code, stdout } = await svc('deploy', join(root, 'shop'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/dags\/deep\/two\.py +two +created +v1\ndags\/one\.py +one +created +v1/);
    expect(await call('/api/v2/dags/two')).toMatchObject({
      bundle_name: 'shop',
      relative_fileloc: 'dags/deep/two.py',
      fileloc: join(root, 'shop/dags/deep/two.py'),
    });
  });

  it('with --all deploys what it can, reports what does not compile, and ends with 1', async () => {
    const root = workspaceOf({
      'good/svc.yaml': 'python_version: 3.10',
      'good/dag.py': dagText('good'),
      'broken/dag.py': 'from airflow import (',
      'plain/one.py': dagText('one'),
      'plain/two.py': `${dagText('two')}\n${dagText('three')}`,
    });
    const { code, stdout, stderr } = await svc('deploy', '--all', root);
    expect(code).toBe(1);
    expect(
      stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['broken', 'broken', 'failed'],
      ['good', 'good', 'created', 'v1'],
      ['plain/one.py', 'one', 'created', 'v1'],
      ['plain/two.py', 'three', 'created', 'v1'],
      ['plain/two.py', 'two', 'created', 'v1'],
    ]);
    expect(stderr).toMatch(/broken\/dag\.py:1: error: /);
    expect(stderr).toContain('python_version 3.10 is deprecated');
    expect(stderr).toContain('svc: 1 of 4 were not deployed');
    expect(await importErrors()).toMatchObject([{ bundle_name: 'broken', filename: 'dag.py' }]);

    writeFiles(root, { 'broken/dag.py': dagText('broken') });
    expect((await svc('deploy', join(root, 'broken'))).code).toBe(0);
    expect(await importErrors()).toEqual([]);
  });

  it('refuses two projects with one id, and deploys neither', async () => {
    const root = workspaceOf({ 'a/dag.py': dagText('a'), 'b/svc.yaml': 'dag_id: a', 'b/dag.py': dagText('a') });
    expect((await svc('deploy', '--all', root)).code).toBe(1);
    expect((await call<{ total_entries: number }>('/api/v2/dags')).total_entries).toBe(0);
  });

  it('goes on when the control plane refuses one, and says why', async () => {
    await server.addUser({ email: 'reader@example.com', roles: ['viewer'] });
    const root = workspaceOf({ 'a/dag.py': dagText('a'), 'b/dag.py': dagText('b'), 'c/dag.py': '(' });
    const reader = { ...env, SVC_TOKEN: await server.login('reader@example.com') };
    const { code, stderr } = await runSvc(['deploy', '--all', root], { env: reader });
    expect(code).toBe(1);
    expect(stderr.match(/missing permission write:dag/g)?.length).toBeGreaterThanOrEqual(3);
    const one = await runSvc(['deploy', join(root, 'a')], { env: reader });
    expect(one).toMatchObject({ code: 3, stderr: expect.stringContaining('ask an administrator') });
  });

  it('prints one JSON document with --json, whatever happens', async () => {
    const root = workspaceOf({ 'a/dag.py': dagText('a'), 'b/dag.py': '(' });
    const { code, stdout } = await svc('deploy', '--all', root, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      server: server.url,
      units: [
        { name: 'a', ok: true, dags: [{ dag_id: 'a', status: 'created', version_number: 1, image: null }] },
        { name: 'b', ok: false, dags: [], problems: [{ file: 'dag.py', line: 1 }] },
      ],
    });
  });

  it('compiles nothing when the control plane cannot be reached or does not know us', async () => {
    const root = workspaceOf({ 'a/dag.py': dagText('a') });
    const away = await runSvc(['deploy', root, '--server', 'http://127.0.0.1:9'], { env });
    expect(away).toMatchObject({ code: 5, stdout: '' });
    const stranger = await runSvc(['deploy', root], { env: { ...env, SVC_TOKEN: 'nonsense' } });
    expect(stranger).toMatchObject({ code: 3, stdout: '' });
  });

  it('as a process ends with 0 when it deployed and with 1 when it could not', async () => {
    const root = workspaceOf({ 'a/dag.py': dagText('a'), 'b/dag.py': '(' });
    expect(await spawnSvc(['deploy', join(root, 'a')], env).ended).toBe(0);
    expect(await spawnSvc(['deploy', join(root, 'b')], env).ended).toBe(1);
  });
});

describe('svc deploy --prune', () => {
  it('removes what came from the path and is gone, after a yes, and nothing that came from elsewhere', async () => {
    const root = workspaceOf({
      'shop/dags/one.py': dagText('one'),
      'shop/dags/two.py': dagText('two'),
      'other/dag.py': dagText('other'),
    });
    const shop = join(root, 'shop');
    await svc('deploy', join(root, 'other'));
    await svc('deploy', shop);
    rmSync(join(shop, 'dags/two.py'));
    const asked = await svc('deploy', shop, '--prune');
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--prune would remove two') });
    expect(asked.stdout).toMatch(/two +dags\/two\.py/);
    // One file of the repository says nothing about its others.
    expect(await jsonOf('deploy', join(shop, 'dags/one.py'), '--prune', '--yes')).toMatchObject({ pruned: [] });
    writeFiles(root, { 'shop/dags/broken.py': 'from airflow import DAG, (' });
    expect((await svc('deploy', shop, '--prune', '--yes')).code).toBe(1);
    expect((await svc('dags', 'show', 'two')).code).toBe(0);
    rmSync(join(shop, 'dags/broken.py'));
    expect((await svc('deploy', shop, '--prune', '--yes')).stdout).toContain('Removed 1 DAG.');
    expect((await call<{ dags: { dag_id: string }[] }>('/api/v2/dags')).dags.map((dag) => dag.dag_id)).toEqual([
      'one',
      'other',
    ]);
    expect((await svc('deploy', shop, '--yes')).code).toBe(2);
  });
});

describe('svc dags', () => {
  const deployed = async () => {
    const root = workspaceOf({
      'etl/svc.yaml': 'tags: [sales]\ntasks: { load: { retries: 2 } }',
      'etl/dag.py': dagText('etl'),
      'plain.py': dagText('plain.one'),
    });
    expect((await svc('deploy', '--all', root)).code).toBe(0);
    return root;
  };

  it('lists the DAGs that match the filters', async () => {
    await deployed();
    const ids = async (...filters: string[]) =>
      (await jsonOf<{ dag_id: string }[]>('dags', 'list', ...filters)).map((dag) => dag.dag_id);
    expect(await ids()).toEqual(['etl', 'plain.one']);
    expect(await ids('--tag', 'sales')).toEqual(['etl']);
    expect(await ids('--tag', 'sales', '--tag', 'nothing')).toEqual(['etl']);
    expect(await ids('--pattern', 'LAIN')).toEqual(['plain.one']);
    expect(await ids('--unpaused')).toEqual([]);
    await svc('dags', 'unpause', 'etl');
    expect(await ids('--unpaused')).toEqual(['etl']);
    expect(await ids('--paused')).toEqual(['plain.one']);
    await server.db.shared.updateTable('dags').set({ is_stale: true }).where('dag_id', '=', 'etl').execute();
    expect(await ids()).toEqual(['plain.one']);
    expect(await ids('--all')).toEqual(['etl', 'plain.one']);
    expect((await svc('dags', 'list', '--all')).stdout).toMatch(/^DAG +STATE +SCHEDULE.*\netl +stale +-/);
    expect((await svc('dags', 'list', '--paused', '--unpaused')).code).toBe(2);
  });

  it('pages through more DAGs than one answer holds', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl') });
    expect((await svc('deploy', join(root, 'etl'))).code).toBe(0);
    await copyDag(server, 'etl', 509);
    const dags = await jsonOf<{ dag_id: string }[]>('dags', 'list');
    expect(new Set(dags.map((dag) => dag.dag_id)).size).toBe(510);
  });

  it('shows a DAG with its graph, its tasks, its versions and its source, also of an older version', async () => {
    const root = await deployed();
    const { stdout } = await svc('dags', 'show', 'etl');
    expect(stdout).toMatch(/State +paused\n/);
    expect(stdout).toMatch(/├─ extract +BashOperator\n└─ load +BashOperator +after extract · 2 retries\n$/);
    expect((await svc('dags', 'tasks', 'etl')).stdout).toMatch(
      /extract +BashOperator +all_success +0 +default_pool +load/,
    );
    writeFiles(root, { 'etl/dag.py': dagText('etl', ['only', 'load']) });
    await svc('deploy', join(root, 'etl'));
    expect((await svc('dags', 'versions', 'etl')).stdout).toMatch(/^VERSION .*\nv2 .*\nv1 .*\n$/);
    expect((await svc('dags', 'source', 'etl')).stdout).toBe(dagText('etl', ['only', 'load']));
    expect((await svc('dags', 'source', 'etl', '--dag-version', '1')).stdout).toBe(dagText('etl'));
    expect((await svc('dags', 'show', 'etl', '--dag-version', 'v1')).stdout).toMatch(/1 \(newest is 2\)[\s\S]*extract/);
    expect((await svc('dags', 'show', 'etl', '--dag-version', 'zero')).code).toBe(2);
  });

  it('pauses and unpauses several, and tells one that does not exist', async () => {
    await deployed();
    expect((await svc('dags', 'unpause', 'etl', 'plain.one')).stdout).toBe('Unpaused etl, plain.one.\n');
    expect(await jsonOf('dags', 'pause', 'plain.one')).toMatchObject([{ dag_id: 'plain.one', is_paused: true }]);
    expect(await svc('dags', 'pause', 'nowhere')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('nowhere'),
    });
  });

  it('does not delete without a yes', async () => {
    await deployed();
    expect(await svc('dags', 'delete', 'etl')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect((await svc('dags', 'delete', 'etl', '--yes')).stdout).toBe('Deleted 1 DAG.\n');
    expect((await svc('dags', 'show', 'etl')).code).toBe(4);
    expect((await svc('dags', 'delete', 'etl', '-y')).code).toBe(4);
  });

  it('keeps an id with special characters in its own path', async () => {
    await deployed();
    expect((await svc('dags', 'show', '../connections')).code).toBe(4);
    expect((await svc('dags', 'show', 'plain.one')).code).toBe(0);
  });
});
