import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';
import { providersAfterCompile } from './providers.ts';
import type { CompiledProviders } from './providers.ts';

/** Without the spec and the source, which are large and read separately. With the display name of its DAG. */
export type DagVersionRow = Omit<Selectable<TenantTables['dag_versions']>, 'tenant_id' | 'spec' | 'source'> & {
  display_name: string;
};

export type VersionColumn = 'id' | 'version_number' | 'bundle_name' | 'bundle_version';

const COLUMNS = [
  'v.id',
  'v.dag_id',
  'v.version_number',
  'v.content_hash',
  'v.bundle_name',
  'v.bundle_version',
  'v.bundle_url',
  'v.image',
  'v.values_read',
  'v.created_at',
  'dags.display_name',
] as const;

const selectVersions = (db: TenantDb) =>
  db.selectFrom('dag_versions as v').innerJoin('dags', 'dags.dag_id', 'v.dag_id');

export type VersionQuery = {
  limit: number;
  offset: number;
  order: readonly { column: VersionColumn; direction: 'asc' | 'desc' }[];
  /** Undefined: the versions of all DAGs. */
  dagId?: string;
  versionNumber?: number;
  bundleName?: string;
  bundleVersion?: string;
};

export async function listVersions(
  db: TenantDb,
  query: VersionQuery,
): Promise<{ versions: DagVersionRow[]; total: number }> {
  let matching = selectVersions(db);
  if (query.dagId !== undefined) matching = matching.where('v.dag_id', '=', query.dagId);
  if (query.versionNumber !== undefined) matching = matching.where('v.version_number', '=', query.versionNumber);
  if (query.bundleName !== undefined) matching = matching.where('v.bundle_name', '=', query.bundleName);
  if (query.bundleVersion !== undefined) matching = matching.where('v.bundle_version', '=', query.bundleVersion);
  let page = matching.select(COLUMNS).limit(query.limit).offset(query.offset);
  for (const { column, direction } of query.order) page = page.orderBy(`v.${column}`, direction);
  const [versions, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { versions, total: count.total };
}

/** Returns a numbered version, or the newest one. */
export function findVersion(db: TenantDb, dagId: string, versionNumber?: number): Promise<DagVersionRow | undefined> {
  const versions = selectVersions(db)
    .select(COLUMNS)
    .where('v.dag_id', '=', dagId)
    .orderBy('v.version_number', 'desc')
    .limit(1);
  return (
    versionNumber === undefined ? versions : versions.where('v.version_number', '=', versionNumber)
  ).executeTakeFirst();
}

/** What a registration has in addition to the content. */
export type SeenDag = {
  dagId: string;
  contentHash: string;
  fileloc: string;
  relativeFileloc: string;
  bundleName: string;
  bundleVersion: string | null;
  parseSeconds: number | null;
  plugins: string | null;
  valuesRead: string | null;
} & CompiledProviders;

/**
 * Records that the newest version of a DAG was compiled again, from the same place, without warnings or errors then and
 * now. It takes one statement, while a registration takes a dozen round trips. Returns undefined when something else
 * must be written.
 */
export function confirmVersion(db: TenantDb, seen: SeenDag): Promise<DagVersionRow | undefined> {
  return db
    .updateTable('dags')
    .from('dag_versions as v')
    .set({
      last_parsed_at: sql`now()`,
      last_parse_seconds: seen.parseSeconds,
      plugins: seen.plugins,
      values_read: seen.valuesRead,
      installed_providers: providersAfterCompile(seen),
    })
    .where('dags.dag_id', '=', seen.dagId)
    .whereRef('v.dag_id', '=', 'dags.dag_id')
    .whereRef('v.version_number', '=', 'dags.current_version')
    .where('v.content_hash', '=', seen.contentHash)
    .where('dags.is_stale', '=', false)
    .where('dags.fileloc', '=', seen.fileloc)
    .where('dags.relative_fileloc', '=', seen.relativeFileloc)
    .where('dags.bundle_name', '=', seen.bundleName)
    .where('dags.bundle_version', 'is not distinct from', seen.bundleVersion)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('dag_warnings as w').select('w.dag_id').where('w.dag_id', '=', seen.dagId))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('import_errors as e')
            .select('e.id')
            .where('e.bundle_name', '=', seen.bundleName)
            .where('e.filename', '=', seen.relativeFileloc),
        ),
      ),
    )
    .returning(COLUMNS)
    .executeTakeFirst();
}

/** Returns the version of a run, and those of instances that ran before it was bound to another one; oldest first. */
export function versionsOfRun(
  db: TenantDb,
  run: { id: number; dag_id: string; version_number: number },
): Promise<DagVersionRow[]> {
  const used = db.selectFrom('task_instances').select('version_number').where('run', '=', run.id).distinct();
  return selectVersions(db)
    .select(COLUMNS)
    .where('v.dag_id', '=', run.dag_id)
    .where((eb) => eb.or([eb('v.version_number', '=', run.version_number), eb('v.version_number', 'in', used)]))
    .orderBy('v.version_number')
    .execute();
}

export type VersionText = { version_number: number; spec: string; source: string | null };

export function findVersionText(db: TenantDb, dagId: string, versionNumber?: number): Promise<VersionText | undefined> {
  const versions = db
    .selectFrom('dag_versions')
    .select(['version_number', 'spec', 'source'])
    .where('dag_id', '=', dagId)
    .orderBy('version_number', 'desc')
    .limit(1);
  return (
    versionNumber === undefined ? versions : versions.where('version_number', '=', versionNumber)
  ).executeTakeFirst();
}

export const findSpecTexts = (db: TenantDb, ids: readonly string[]): Promise<{ id: string; spec: string }[]> =>
  db
    .selectFrom('dag_versions')
    .select(['id', 'spec'])
    .where('id', 'in', [...ids])
    .execute();

export type NewVersion = Omit<DagVersionRow, 'id' | 'created_at' | 'display_name' | 'values_read'> & {
  spec: string;
  source: string | null;
  values_read?: string | null;
};

export async function insertVersion(db: TenantDb, version: NewVersion): Promise<void> {
  await db.insertInto('dag_versions').values(version).execute();
}

/** Returns the last version of a deleted DAG with that name; 0 when there was none. */
export async function lastDeletedVersion(db: TenantDb, dagId: string): Promise<number> {
  const row = await db
    .selectFrom('versions_of_deleted_dags')
    .select('last_version_number')
    .where('dag_id', '=', dagId)
    .executeTakeFirst();
  return row?.last_version_number ?? 0;
}
