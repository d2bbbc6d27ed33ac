/** The trees of deployments and their files, by content (docs/bundles.md). */
import { sql } from 'kysely';
import { runTree } from '@svc/proto/code-archive.ts';
import type { Database, TenantDb } from '../database.ts';
import type { DeployedDag } from '../tables/bundles.ts';

/** What nothing refers to stays for this time, because a sync that runs may be about to use it. */
const GRACE = sql`interval '1 day'`;

/** Returns the files that are not stored. Those that are stored are kept for the sync that has asked. */
export async function missingFilesOf(db: TenantDb, hashes: readonly string[]): Promise<string[]> {
  const stored = await db
    .updateTable('archive_files')
    .set({ stored_at: sql`now()` })
    .where('hash', '=', sql<string>`any(${[...hashes]}::text[])`)
    .returning('hash')
    .execute();
  const known = new Set(stored.map(({ hash }) => hash));
  return hashes.filter((hash) => !known.has(hash));
}

export async function storePart(
  db: TenantDb,
  { hash, part, data }: { hash: string; part: number; data: Buffer },
): Promise<void> {
  await db
    .insertInto('archive_parts')
    .values({ hash, part, data })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'hash', 'part']).doUpdateSet({ data, stored_at: sql`now()` }),
    )
    .execute();
}

/** Call it when all parts are stored. */
export async function completeFile(db: TenantDb, hash: string): Promise<void> {
  await db
    .insertInto('archive_files')
    .values({ hash })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'hash']).doUpdateSet({ stored_at: sql`now()` }))
    .execute();
}

export async function storeTree(db: TenantDb, { hash, manifest }: { hash: string; manifest: string }): Promise<void> {
  await db
    .insertInto('archive_trees')
    .values({ hash, manifest })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'hash']).doUpdateSet({ stored_at: sql`now()` }))
    .execute();
}

/** Returns the manifest of a tree as JSON. */
export async function findManifest(db: TenantDb, hash: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('archive_trees')
    .select(sql<string>`manifest::text`.as('manifest'))
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row?.manifest;
}

/** True when the run has this tree, or the DAG has it now. An attempt may read no other tree. */
export async function mayReadTree(
  db: TenantDb,
  { run, dagId, hash }: { run: number; dagId: string; hash: string },
): Promise<boolean> {
  const found = await db
    .selectFrom('dag_runs')
    .select('tree')
    .where('id', '=', run)
    .unionAll(db.selectFrom('dags').select('tree').where('dag_id', '=', dagId))
    .execute();
  return found.some(({ tree }) => tree?.startsWith(`${hash}/`));
}

/**
 * Returns the tree of the files with which a run ran a version: its own, or that of the newest deployment of the
 * version, for a try from before a clear that has moved the run. Null if the version came from no bundle.
 */
export async function findTreeOfVersion(
  db: TenantDb,
  { run, dagId, versionNumber }: { run: number; dagId: string; versionNumber: number },
): Promise<string | null> {
  const own = await db
    .selectFrom('dag_runs')
    .select(['tree', 'version_number'])
    .where('id', '=', run)
    .executeTakeFirst();
  if (own?.tree && own.version_number === versionNumber) return own.tree;
  const deployed = await db
    .selectFrom('deployments')
    .select(['tree', sql<DeployedDag>`dags -> ${dagId}`.as('dag')])
    .where('tree', 'is not', null)
    .where(sql<boolean>`(dags -> ${dagId} ->> 'version')::int = ${versionNumber}`)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return deployed?.tree ? runTree(deployed.tree, deployed.dag) : null;
}

export const findDagTree = async (db: TenantDb, dagId: string): Promise<string | null> =>
  (await db.selectFrom('dags').select('tree').where('dag_id', '=', dagId).executeTakeFirst())?.tree ?? null;

/** Returns the size of each part, so that a caller can read as many as fit into an answer. */
export const partSizes = (
  db: TenantDb,
  parts: readonly { hash: string; part: number }[],
): Promise<{ hash: string; part: number; bytes: number }[]> =>
  db
    .selectFrom('archive_parts')
    .select(['hash', 'part', sql<number>`octet_length(data)`.as('bytes')])
    .where(isAmong(parts))
    .execute();

export const readParts = (
  db: TenantDb,
  parts: readonly { hash: string; part: number }[],
): Promise<{ hash: string; part: number; data: Buffer }[]> =>
  db.selectFrom('archive_parts').select(['hash', 'part', 'data']).where(isAmong(parts)).execute();

const isAmong = (parts: readonly { hash: string; part: number }[]) =>
  sql<boolean>`(hash, part) in (select * from unnest(${parts.map(({ hash }) => hash)}::text[],
    ${parts.map(({ part }) => part)}::int[]))`;

export type RemovedArchives = { trees: number; files: number };

/**
 * Removes trees that no deployment, DAG or run has, and then files that no tree has. Idempotent, so several processes
 * may do it at once. Query plan: each tree is looked up in `dag_runs_by_tree`; deployments and DAGs are few.
 */
export async function removeUnusedArchives(db: Database): Promise<RemovedArchives> {
  const trees = await sql<{ tenant_id: string }>`
    delete from archive_trees t where stored_at < now() - ${GRACE}
      and not exists (select from deployments d where d.tenant_id = t.tenant_id and d.tree = t.hash)
      and not exists (select from dags d where d.tenant_id = t.tenant_id and left(d.tree, 64) = t.hash)
      and not exists (select from dag_runs r where r.tenant_id = t.tenant_id and r.tree is not null
        and left(r.tree, 64) = t.hash)
    returning t.tenant_id`.execute(db.shared);
  const files = await sql<{ hash: string }>`
    with used as materialized (
      select distinct t.tenant_id, e ->> 'file' as hash from archive_trees t, json_array_elements(t.manifest) e
    )
    delete from archive_files f where stored_at < now() - ${GRACE}
      and not exists (select from used u where u.tenant_id = f.tenant_id and u.hash = f.hash)
    returning f.hash`.execute(db.shared);
  // Also parts of files that were never completed.
  await sql`
    delete from archive_parts p where stored_at < now() - ${GRACE}
      and not exists (select from archive_files f where f.tenant_id = p.tenant_id and f.hash = p.hash)`.execute(
    db.shared,
  );
  return { trees: trees.rows.length, files: files.rows.length };
}
