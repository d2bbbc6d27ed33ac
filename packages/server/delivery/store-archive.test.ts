import { deflateSync } from 'node:zlib';
import { sql } from 'kysely';
import { PART_BYTES, runTree, sha256 } from '@svc/proto/code-archive.ts';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import { insertDag, insertRun } from '@svc/testing/engine/run-rows.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readParams } from '../agents/calls/call-context.ts';
import type { CallContext } from '../agents/calls/call-context.ts';
import { treeCalls } from '../agents/calls/tree-calls.ts';
import { ensureTenant } from '../auth/tenants.ts';
import { removeUnusedArchives } from '../db/bundles/archives.ts';
import { openDatabase } from '../db/database.ts';
import type { Database, TenantDb } from '../db/database.ts';
import { createArchiveStore } from './store-archive.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let tenantId: string;
let tenant: TenantDb;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, maxOpenConns: 4, maxIdleConns: 2, statementTimeoutMs: 60_000, idleInTransactionTimeoutMs: 60_000 }); // prettier-ignore
  tenantId = (await ensureTenant(db.shared, 'default')).id;
  tenant = db.tenant(tenantId);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const fileOf = (path: string, text: string): TreeEntry & { file: string } => ({
  path,
  file: sha256(text),
  bytes: Buffer.byteLength(text),
});

/** Stores a tree of these files. Returns its hash, and which files were sent for it. */
async function store(texts: Record<string, string>): Promise<{ tree: string; sent: string[] }> {
  const archive = createArchiveStore(tenant);
  const entries = Object.entries(texts).map(([path, text]) => fileOf(path, text));
  const missing = await archive.announce(entries);
  for (const hash of missing) {
    const text = Object.values(texts).find((one) => sha256(one) === hash) ?? '';
    for (let part = 0; part * PART_BYTES < Math.max(1, text.length); part += 1) {
      const data = deflateSync(Buffer.from(text).subarray(part * PART_BYTES, (part + 1) * PART_BYTES));
      await archive.put({ hash, part, data });
    }
  }
  const sent = entries.filter(({ file }) => missing.includes(file)).map(({ path }) => path);
  return { tree: await archive.finish(), sent };
}

const storedFiles = async (): Promise<string[]> =>
  (await tenant.selectFrom('archive_files').select('hash').execute()).map(({ hash }) => hash);

describe('a process that syncs and lies about its files', () => {
  it.each<[string, TreeEntry[], RegExp]>([
    ['a path that leads out', [fileOf('../evil', 'x')], /path/],
    ['an absolute path', [fileOf('/etc/passwd', 'x')], /path/],
    ['a file below a link', [{ path: 'a', link: 'b' }, fileOf('a/x', 'x')], /below/],
    ['a link to an absolute path', [{ path: 'a', link: '/etc' }], /leads out/],
    ['a path twice', [fileOf('a', 'x'), fileOf('a', 'y')], /twice/],
    ['a hash that is none', [{ path: 'a', file: '../../x', bytes: 1 }], /content/],
  ])('is refused with %s', async (_what, entries, reason) => {
    await expect(createArchiveStore(tenant).announce(entries)).rejects.toThrow(reason);
  });

  it('stores no file under the hash of another, and no part that was not asked for', async () => {
    const archive = createArchiveStore(tenant);
    const { file: hash } = fileOf('a', 'right');
    await archive.announce([fileOf('a', 'right')]);
    await expect(archive.put({ hash, part: 1, data: deflateSync('x') })).rejects.toThrow('not asked for');
    await expect(archive.put({ hash: sha256('b'), part: 0, data: deflateSync('b') })).rejects.toThrow('not asked for');
    await expect(archive.put({ hash, part: 0, data: deflateSync('wrong') })).rejects.toThrow('was changed');
    await expect(archive.finish()).rejects.toThrow('were not sent');
    expect(await storedFiles()).not.toContain(hash);
    const bomb = createArchiveStore(tenant);
    await bomb.announce([fileOf('a', 'right')]);
    await expect(bomb.put({ hash, part: 0, data: deflateSync(Buffer.alloc(PART_BYTES + 1)) })).rejects.toThrow(
      'larger than',
    );
  });
});

describe('archives', () => {
  const large = 'x'.repeat(2 * PART_BYTES + 5);

  it('keep a file once for all trees, and give it only to attempts whose run or DAG has the tree', async () => {
    const one = await store({ 'dags/a.py': 'a', 'data.txt': large, empty: '' });
    expect(one.sent).toEqual(['dags/a.py', 'data.txt', 'empty']);
    const two = await store({ 'dags/a.py': 'changed', 'data.txt': large, empty: '' });
    expect(two.sent).toEqual(['dags/a.py']);

    await insertDag(tenant, { dagId: 'mine' });
    await insertDag(tenant, { dagId: 'other' });
    const run = await insertRun(tenant, { dagId: 'mine', runId: 'one' });
    const place = { file: 'dags/a.py', source: 'a.py' };
    await sql`update dag_runs set tree = ${runTree(one.tree, place)} where id = ${run}`.execute(db.shared);
    await sql`update dags set tree = ${runTree(two.tree, place)} where dag_id = 'other'`.execute(db.shared);
    const calls = treeCalls({ db });
    const context = (params: object): CallContext =>
      ({
        identity: { kind: 'task', tenantId, dagId: 'mine', run, attemptId: 'one' },
        params: readParams(JSON.stringify(params)),
      }) as unknown as CallContext;
    const { json } = await calls.read_tree(context({ tree: one.tree }));
    expect((JSON.parse(json) as TreeEntry[]).map(({ path }) => path)).toEqual(['dags/a.py', 'data.txt', 'empty']);
    await expect(calls.read_tree(context({ tree: two.tree }))).rejects.toThrow('not stored');
    const parts = [`${sha256(large)} 0`, `${sha256(large)} 1`, `${sha256(large)} 2`, `${sha256('')} 0`];
    const read = await calls.read_files(context({ tree: one.tree, parts }));
    expect(JSON.parse(read.json)).toHaveLength(4);
    const foreign = { tree: one.tree, parts: [`${sha256('changed')} 0`] };
    await expect(calls.read_files(context(foreign))).rejects.toThrow('no such file');
    const strangers = db.tenant((await ensureTenant(db.shared, 'strangers')).id);
    expect(await strangers.selectFrom('archive_trees').select('hash').execute()).toEqual([]);
  });

  it('lose what no deployment, DAG or run has, after a day, and nothing else', async () => {
    const { tree: unused } = await store({ only: 'unused', shared: large });
    const before = await storedFiles();
    await removeUnusedArchives(db);
    expect(await storedFiles()).toEqual(before); // a sync may be about to use it
    for (const table of ['archive_trees', 'archive_files', 'archive_parts'])
      await sql`update ${sql.table(table)} set stored_at = now() - interval '2 days'`.execute(db.shared);
    expect(await removeUnusedArchives(db)).toEqual({ trees: 1, files: 1 });
    const trees = await tenant.selectFrom('archive_trees').select('hash').execute();
    expect(trees.map(({ hash }) => hash)).not.toContain(unused);
    expect((await storedFiles()).toSorted()).toEqual(
      [sha256('a'), sha256('changed'), sha256(large), sha256('')].toSorted(),
    );
    await tenant.deleteFrom('dag_runs').execute();
    expect(await removeUnusedArchives(db)).toEqual({ trees: 1, files: 1 });
    const parts = await tenant.selectFrom('archive_parts').select('hash').distinct().execute();
    expect(parts.map(({ hash }) => hash).toSorted()).toEqual([sha256('changed'), sha256(large), sha256('')].toSorted());
  });
});
