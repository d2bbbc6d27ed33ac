/** A push to a real repository becomes live, completely or not at all, and can be undone. */
import { createHmac } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { dagText, workspaceOf, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { startBundleServer } from '@svc/testing/server/bundle-server.ts';
import type { BundleServer } from '@svc/testing/server/bundle-server.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import type { GitRepository } from '@svc/testing/server/git-repository.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { createRandom } from '@svc/testing/chaos/random.ts';
import { SEED } from '@svc/testing/seed.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let server: BundleServer;
let repository: GitRepository;

beforeAll(async () => {
  repository = createGitRepository();
  server = await startBundleServer();
});
afterAll(async () => {
  await server?.close();
  repository?.[Symbol.dispose]();
});

type Deployments = {
  deployments: { deployment: number; kind: string; changed: number; is_current: boolean }[];
};
const deployments = async (name: string) =>
  (await server.api<Deployments>('GET', `/bundles/${name}/deployments`)).deployments;

/** When a file of the bundle was written, in nanoseconds. */
async function writtenAt(name: string): Promise<bigint> {
  const { id } = await server.db.shared.selectFrom('tenants').select('id').executeTakeFirstOrThrow();
  return statSync(join(server.cache, id, 'etl', 'work', 'etl', name), { bigint: true }).mtimeNs;
}

/** Lets the time of the next poll come, and waits until the source was looked at. */
async function pollOnce(name: string): Promise<void> {
  const { checked_at: before } = (await server.api<{ sync: { checked_at: string } }>('GET', `/bundles/${name}`)).sync;
  const due = server.db.shared.updateTable('bundles').set({ next_check_at: new Date() });
  await due.where('name', '=', name).execute();
  await eventually(async () => {
    const { sync } = await server.api<{ sync: { checked_at: string } }>('GET', `/bundles/${name}`);
    return sync.checked_at !== before;
  });
}

describe('a bundle of a git repository', () => {
  it('deploys a commit, changes only the DAGs that differ, and marks removed ones as stale', async () => {
    const first = repository.push(
      { 'dags/a.py': dagText('git_a'), 'dags/b.py': dagText('git_b'), 'requirements.txt': '' },
      'Add two DAGs',
    );
    const added = await server.addBundle('etl', repository.url, { commit_url: 'https://forge.example/c/{commit}' });
    expect(added.sync).toMatchObject({ state: 'done', problems: [] });
    expect(added.current).toEqual({
      deployment: 1,
      version: first,
      author: 'Ada <ada@example.com>',
      message: 'Add two DAGs',
      url: `https://forge.example/c/${first}`,
      deployed_at: expect.any(String) as string,
    });
    expect(await server.dags()).toEqual({ git_a: 1, git_b: 1 });

    const second = repository.push({
      'dags/a.py': dagText('git_a', ['changed']),
      'dags/b.py': null,
      'dags/c.py': dagText('git_c'),
    });
    const unchanged = await writtenAt('requirements.txt');
    expect(await server.sync('etl')).toMatchObject({ current: { deployment: 2, version: second } });
    // A file that is written again would be compiled again.
    expect(await writtenAt('requirements.txt')).toBe(unchanged);
    expect(await server.dags()).toEqual({ git_a: 2, git_c: 1 });
    const { changes } = await server.api<{ changes: object }>('GET', '/bundles/etl/deployments/2');
    expect(changes).toEqual({
      git_a: { change: 'changed', before: 1, after: 2 },
      git_b: { change: 'removed', before: 1, after: null },
      git_c: { change: 'added', before: null, after: 1 },
    });
    const version = await server.api<object>('GET', '/dags/git_a/dagVersions/2');
    expect(version).toMatchObject({
      bundle_name: 'etl',
      bundle_version: second,
      bundle_url: `https://forge.example/c/${second}`,
    });
    const stale = await server.api<object>('GET', '/dags/git_b');
    expect(stale).toMatchObject({ is_stale: true, bundle_version: first });
  });

  it('makes no deployment of a commit that is current already', async () => {
    const before = await deployments('etl');
    expect((await server.sync('etl')).sync).toMatchObject({ state: 'done' });
    expect(await deployments('etl')).toEqual(before);
  });

  it('changes nothing when one file is broken, and names its file, its line and the commit', async () => {
    const before = { dags: await server.dags(), deployments: await deployments('etl') };
    const broken = repository.push({
      'dags/a.py': 'from airflow.sdk import DAG\n\nnonsense(\n',
      'dags/d.py': dagText('git_d'),
    });
    const { sync } = await server.sync('etl');
    expect(sync).toMatchObject({
      state: 'refused',
      version: broken,
      problems: [{ file: 'dags/a.py', line: 3, message: expect.stringContaining('never closed') as string }],
    });
    expect({ dags: await server.dags(), deployments: await deployments('etl') }).toEqual(before);
    const { import_errors: errors } = await server.api<{ import_errors: object[] }>('GET', '/importErrors');
    expect(errors).toMatchObject([
      { bundle_name: 'etl', filename: 'dags/a.py', stack_trace: expect.stringContaining(broken) as string },
    ]);
  });

  it('deploys the rest of a broken commit with on_error partial, and keeps the version of the broken file', async () => {
    await server.api('PATCH', '/bundles/etl', { on_error: 'partial' });
    await server.sync('etl');
    expect(await server.dags()).toEqual({ git_a: 2, git_c: 1, git_d: 1 });
    await server.api('PATCH', '/bundles/etl', { on_error: 'refuse' });
    repository.push({ 'dags/a.py': dagText('git_a', ['mended']) });
    expect((await server.sync('etl')).sync).toMatchObject({ state: 'done', problems: [] });
    expect(await server.dags()).toEqual({ git_a: 3, git_c: 1, git_d: 1 });
    expect(await server.api('GET', '/importErrors')).toMatchObject({ total_entries: 0 });
  });

  it('goes back to an older deployment with one audit entry, and a poll does not deploy the undone commit again', async () => {
    const [current] = await deployments('etl');
    const bad = repository.push({ 'dags/a.py': dagText('git_a', ['bad']), 'dags/e.py': dagText('git_e') });
    await server.sync('etl');
    expect(await server.dags()).toMatchObject({ git_a: 4, git_e: 1 });
    const undone = await server.api<{ repeats: number; changes: object }>('POST', '/bundles/etl/rollback', {});
    expect(undone).toMatchObject({ kind: 'rollback', repeats: current?.deployment, is_current: true });
    expect(undone.changes).toEqual({
      git_a: { change: 'changed', before: 4, after: 5 },
      git_e: { change: 'removed', before: 1, after: null },
    });
    expect(await server.dags()).toEqual({ git_a: 5, git_c: 1, git_d: 1 });
    const source = await server.api<{ content: string }>('GET', '/dagSources/git_a');
    expect(source.content).toContain('mended');
    const entries = await server.api<object>('GET', '/eventLogs?event=post_rollback');
    expect(entries).toMatchObject({ total_entries: 1 });

    const again = await server.send('POST', '/bundles/etl/rollback', { to: current?.deployment });
    expect(again).toMatchObject({ status: 409, text: expect.stringContaining('is current already') as string });
    expect(await server.send('POST', '/bundles/etl/rollback', { to: 99 })).toMatchObject({ status: 404 });

    await pollOnce('etl');
    expect(await server.dags()).toEqual({ git_a: 5, git_c: 1, git_d: 1 });
    expect((await server.sync('etl')).current?.version).toBe(bad);
    expect(await server.dags()).toMatchObject({ git_a: 6, git_e: 1 });
  });
});

describe('a rollback of one DAG', () => {
  it('keeps the rest of the commit, and later commits do not bring back what was undone', async () => {
    repository.push({ 'dags/a.py': dagText('git_a', ['bad']), 'dags/c.py': dagText('git_c', ['good']) });
    await server.sync('etl');
    const before = await server.dags();
    const sync = (await deployments('etl'))[0]?.deployment ?? 0;
    const undone = await server.api<object>('POST', '/dags/git_a/rollback', {});
    expect(undone).toMatchObject({ from: before['git_a'], bundle_name: 'etl', deployment: sync + 1 });
    expect(await server.dags()).toEqual({ ...before, git_a: Number(before['git_a']) + 1 });
    const [shown] = await deployments('etl');
    expect(shown).toMatchObject({ kind: 'dag_rollback', repeats: sync, changed: 1, is_current: true });
    expect(await server.api('GET', '/eventLogs?event=post_dag_rollback')).toMatchObject({ total_entries: 1 });

    repository.push({ 'dags/c.py': dagText('git_c', ['better']) });
    await pollOnce('etl');
    expect(await server.dags()).toMatchObject({
      git_a: Number(before['git_a']) + 1,
      git_c: Number(before['git_c']) + 1,
    });
    repository.push({ 'dags/a.py': dagText('git_a', ['mended', 'again']) });
    await pollOnce('etl');
    expect(await server.dags()).toMatchObject({ git_a: Number(before['git_a']) + 2 });

    expect(await server.send('POST', '/dags/git_a/rollback', { to: 9_999 })).toMatchObject({ status: 404 });
    expect(await server.send('POST', '/dags/nothing/rollback', {})).toMatchObject({ status: 404 });
    const same = await server.send('POST', '/dags/git_a/rollback', { to: Number(before['git_a']) + 2 });
    expect(same).toMatchObject({ status: 409, text: expect.stringContaining('has this content already') as string });
    expect(await server.send('POST', '/dags/git_b/rollback', {})).toMatchObject({
      status: 409,
      text: expect.stringContaining('it is stale') as string,
    });
  });
});

/** By id, the hash of the content of each DAG that is not stale. */
async function contents(): Promise<Record<string, string>> {
  const rows = await server.db.shared
    .selectFrom('dags as d')
    .innerJoin('dag_versions as v', (join) =>
      join.onRef('v.dag_id', '=', 'd.dag_id').onRef('v.version_number', '=', 'd.current_version'),
    )
    .select(['d.dag_id', 'v.content_hash'])
    .where('d.is_stale', '=', false)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.dag_id, row.content_hash]));
}

describe('seeded bad commits', () => {
  it('are undone by one rollback each, whatever they added, changed and removed', async () => {
    const random = createRandom(SEED);
    const ids = ['seeded_a', 'seeded_b', 'seeded_c', 'seeded_d'];
    const present = new Set(ids.slice(0, 2));
    repository.push(Object.fromEntries(ids.slice(0, 2).map((id) => [`dags/${id}.py`, dagText(id)])));
    await server.sync('etl');
    for (let number = 0; number < (IS_NIGHTLY ? 20 : 2); number += 1) {
      const before = await contents();
      const touched = ids.filter(() => random.below(10) < 6);
      const files = (touched.length > 0 ? touched : ids.slice(0, 1)).map((id) => {
        const isRemoved = present.has(id) && random.below(10) < 4;
        return [`dags/${id}.py`, isRemoved ? null : dagText(id, [`bad_${number}`])] as const;
      });
      const bad = repository.push(Object.fromEntries(files));
      expect((await server.sync('etl')).current?.version).toBe(bad);
      expect(await contents()).not.toEqual(before);
      await server.api('POST', '/bundles/etl/rollback', {});
      expect(await contents()).toEqual(before);
      // The author takes the push back, which is the commit of before.
      repository.git('reset', '--quiet', '--hard', 'HEAD~1');
      repository.git('push', '--quiet', '--force', 'origin', 'HEAD');
    }
  });
});

describe('a bundle whose files read variables', () => {
  it('is compiled again when one of them changes, and makes a version only of the DAGs that differ', async () => {
    await server.api('POST', '/variables', { key: 'first_task', value: 'one' });
    const reading = dagText('values_reads').replace('"extract"', 'Variable.get("first_task")');
    const root = workspaceOf({
      'reads.py': `from airflow.sdk import Variable\n${reading}`,
      'plain.py': dagText('values_plain'),
    });
    await server.addBundle('values', root);
    expect(await server.dags()).toMatchObject({ values_reads: 1, values_plain: 1 });
    await server.api('PATCH', '/variables/first_task', { key: 'first_task', value: 'two' });
    await eventually(async () => (await server.dags())['values_reads'] === 2);
    expect(await server.dags()).toMatchObject({ values_plain: 1 });
    await server.settled('values');
    await eventually(async () => {
      const warnings = await server.api<{ total_entries: number }>('GET', '/dagWarnings?dag_id=values_reads');
      return warnings.total_entries === 0;
    });
    await server.api('DELETE', '/bundles/values');
  });
});

describe('a webhook', () => {
  const deliver = (body: string, headers: Record<string, string>, query = '') =>
    server.call(`/api/v2/bundles/etl/webhook${query}`, { method: 'POST', body, headers });
  const signed = (body: string, secret: string) => ({
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  });

  it('with a signature deploys a push at once, and its replay or another signature changes nothing', async () => {
    const body = '{"ref": "refs/heads/main",  "forced":false}';
    expect(await deliver(body, signed(body, 'hush'))).toMatchObject({ status: 403 });
    await server.api('POST', '/connections', { connection_id: 'hook', conn_type: 'generic', password: 'hush' });
    await server.api('PATCH', '/bundles/etl', { webhook_conn_id: 'hook', poll_seconds: 0 });
    await server.settled('etl');
    const pushed = repository.push({ 'dags/a.py': dagText('git_a', ['by_webhook']) });
    expect(await deliver(body, signed(body, 'guess'))).toMatchObject({ status: 403 });
    expect(await deliver(body, signed(body, 'hush'), '?tenant=other')).toMatchObject({ status: 403 });
    expect(await deliver(body, signed(body, 'hush'))).toMatchObject({ status: 202 });
    await eventually(async () => {
      const { current } = await server.api<{ current: { version: string } }>('GET', '/bundles/etl');
      return current.version === pushed;
    });
    expect(await deliver(body, signed(body, 'hush'))).toMatchObject({ status: 409 });
  });
});

describe('a bundle of a folder', () => {
  it('takes the DAGs below it and refuses an id that another bundle has', async () => {
    const root = workspaceOf({ 'one.py': dagText('folder_one'), 'two.py': dagText('git_c') });
    const refused = await server.addBundle('files', root);
    expect(refused.sync).toMatchObject({
      state: 'refused',
      problems: [{ file: 'two.py', message: expect.stringContaining('belongs to the bundle "etl"') as string }],
    });
    writeFiles(root, { 'two.py': dagText('folder_two') });
    expect((await server.sync('files')).sync.state).toBe('done');
    expect(await server.dags()).toMatchObject({ folder_one: 1, folder_two: 1 });
    const { content } = await server.api<{ content: string }>('GET', '/dagSources/folder_one');
    const elsewhere = workspaceOf({ 'one.py': `${content}# changed\n` });
    const env = { SVC_SERVER_URL: server.url, SVC_TOKEN: server.token, SVC_PYTHON: await pythonEnvironment() };
    const deployed = await runSvc(['deploy', elsewhere], { env });
    expect(deployed).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('belongs to the bundle "files"') as string,
    });
    await server.api('DELETE', '/bundles/files');
    expect(await server.api('GET', '/dags/folder_one')).toMatchObject({ is_stale: true });
  });
});
