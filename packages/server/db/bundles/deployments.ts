/** Deployments: the commits that were made current, one after the other. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { TenantDb } from '../database.ts';
import { pageWithTotal } from '../page-with-total.ts';
import type { TenantTables } from '../schema.ts';

export type DeploymentRow = Omit<Selectable<TenantTables['deployments']>, 'tenant_id'>;
/** Without what is as large as the bundle. */
export type ListedDeployment = Omit<DeploymentRow, 'dags' | 'changes' | 'problems'>;
export type NewDeployment = Omit<Insertable<TenantTables['deployments']>, 'tenant_id'>;

const LISTED = [
  'bundle_name',
  'number',
  'kind',
  'repeats',
  'version',
  'author',
  'message',
  'committed_at',
  'url',
  'root',
  'tree',
  'changed',
  'created_by',
  'created_at',
] as const;

export async function listDeployments(
  db: TenantDb,
  query: { bundleName: string; limit: number; offset: number },
): Promise<{ deployments: ListedDeployment[]; total: number }> {
  const matching = db.selectFrom('deployments').where('bundle_name', '=', query.bundleName);
  const page = matching.select(LISTED).orderBy('number', 'desc').limit(query.limit).offset(query.offset);
  const { rows, total } = await pageWithTotal(page, matching, query);
  return { deployments: rows, total };
}

export const findDeployment = (db: TenantDb, bundleName: string, number: number): Promise<DeploymentRow | undefined> =>
  db
    .selectFrom('deployments')
    .selectAll()
    .where('bundle_name', '=', bundleName)
    .where('number', '=', number)
    .executeTakeFirst();

/** Returns what was current before this deployment. */
export const previousDeployment = (
  db: TenantDb,
  bundleName: string,
  number: number,
): Promise<DeploymentRow | undefined> =>
  db
    .selectFrom('deployments')
    .selectAll()
    .where('bundle_name', '=', bundleName)
    .where('number', '<', number)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Returns the newest deployment in which the DAG had this version. A bundle keeps at most 100 deployments. */
export const deploymentOfVersion = (
  db: TenantDb,
  { bundleName, dagId, version }: { bundleName: string; dagId: string; version: number },
): Promise<DeploymentRow | undefined> =>
  db
    .selectFrom('deployments')
    .selectAll()
    .where('bundle_name', '=', bundleName)
    .where(sql<boolean>`dags -> ${dagId}::text ->> 'version' = ${String(version)}`)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Returns the newest version of a DAG before the first one that had the content of this version. */
export async function versionBefore(db: TenantDb, dagId: string, version: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('dag_versions')
    .select((eb) => eb.fn.max('version_number').as('number'))
    .where('dag_id', '=', dagId)
    .where('version_number', '>', 0)
    .where('version_number', '<', (eb) =>
      eb
        .selectFrom('dag_versions as same')
        .select((of) => of.fn.min('same.version_number').as('first'))
        .where('same.dag_id', '=', dagId)
        .where('same.version_number', '>', 0)
        .where('same.content_hash', '=', (of) =>
          of
            .selectFrom('dag_versions as shown')
            .select('shown.content_hash')
            .where('shown.dag_id', '=', dagId)
            .where('shown.version_number', '=', version),
        ),
    )
    .executeTakeFirst();
  return row?.number ?? undefined;
}

/** Returns 0 before the first one. */
export async function lastDeploymentNumber(db: TenantDb, bundleName: string): Promise<number> {
  const row = await db
    .selectFrom('deployments')
    .select((eb) => eb.fn.max('number').as('last'))
    .where('bundle_name', '=', bundleName)
    .executeTakeFirst();
  return row?.last ?? 0;
}

/** Makes it the current one. Needs the lock of the bundle. */
export async function insertDeployment(db: TenantDb, deployment: NewDeployment): Promise<void> {
  await db.insertInto('deployments').values(deployment).execute();
  await db
    .updateTable('bundles')
    .set({ current_deployment: deployment.number })
    .where('name', '=', deployment.bundle_name)
    .execute();
}

/** Removes all but the newest ones and the current one. */
export async function pruneDeployments(db: TenantDb, bundleName: string, kept: number): Promise<void> {
  await db
    .deleteFrom('deployments')
    .where('bundle_name', '=', bundleName)
    .where('number', '<=', (eb) =>
      eb
        .selectFrom('deployments as d')
        .select((of) => of(of.fn.max('d.number'), '-', kept).as('last'))
        .where('d.bundle_name', '=', bundleName),
    )
    .where('number', 'not in', (eb) =>
      eb
        .selectFrom('bundles as b')
        .select((of) => of.fn.coalesce('b.current_deployment', sql<number>`0`).as('number'))
        .where('b.name', '=', bundleName),
    )
    .execute();
}

/** Returns the roots of the newest deployments, whose files a host keeps. */
export async function newestRoots(db: TenantDb, bundleName: string, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('root')
    .where('bundle_name', '=', bundleName)
    .orderBy('number', 'desc')
    .limit(count)
    .execute();
  return [...new Set(rows.map(({ root }) => root))];
}

export type BundleDag = {
  dag_id: string;
  content_hash: string;
  version_number: number;
  relative_fileloc: string | null;
};

/** Returns the DAGs that the bundle has now, with the content of their newest versions. */
export const dagsOfBundle = (db: TenantDb, bundleName: string): Promise<BundleDag[]> =>
  db
    .selectFrom('dags')
    .innerJoin('dag_versions as v', (join) =>
      join.onRef('v.dag_id', '=', 'dags.dag_id').onRef('v.version_number', '=', 'dags.current_version'),
    )
    .select(['dags.dag_id', 'v.content_hash', 'v.version_number', 'dags.relative_fileloc'])
    .where('dags.bundle_name', '=', bundleName)
    .where('dags.is_stale', '=', false)
    .orderBy('dags.dag_id')
    .execute();

export type MovedDag = {
  dagId: string;
  fileloc: string;
  file: string;
  /** The tree of its runs. Null: its deployment has none. */
  tree: string | null;
  /** JSON of what its file read. Null: nothing. */
  valuesRead: string | null;
};

/** Records that these DAGs are part of another commit, without a change of their content. One statement for all. */
export async function moveDags(db: TenantDb, version: string, dags: readonly MovedDag[]): Promise<void> {
  if (dags.length === 0) return;
  const ids = dags.map(({ dagId }) => dagId);
  const places = sql<{ dag_id: string; fileloc: string; file: string; tree: string | null; reads: string | null }>`(
    select * from unnest(${ids}::text[], ${dags.map(({ fileloc }) => fileloc)}::text[],
      ${dags.map(({ file }) => file)}::text[], ${dags.map(({ tree }) => tree)}::text[], ${dags.map(({ valuesRead }) => valuesRead)}::text[]
    ) as places (dag_id, fileloc, file, tree, reads))`;
  await db
    .updateTable('dags')
    .from(places.as('p'))
    .set({
      bundle_version: version,
      fileloc: sql`p.fileloc`,
      relative_fileloc: sql`p.file`,
      tree: sql`p.tree`,
      values_read: sql`p.reads::json`,
      last_parsed_at: sql`now()`,
    })
    .whereRef('dags.dag_id', '=', 'p.dag_id')
    .execute();
  // They were compiled with the values of now.
  await db.deleteFrom('dag_warnings').where('warning_type', '=', 'value changed').where('dag_id', 'in', ids).execute();
}

/** Replaces the warnings of the compiler, and keeps the others. */
export async function replaceCompileWarnings(
  db: TenantDb,
  dagId: string,
  warnings: readonly { type: string; message: string }[],
): Promise<void> {
  await db
    .deleteFrom('dag_warnings')
    .where('dag_id', '=', dagId)
    .where('warning_type', 'in', ['runtime varying value', 'airflow difference'])
    .execute();
  if (warnings.length === 0) return;
  await db
    .insertInto('dag_warnings')
    .values(warnings.map(({ type, message }) => ({ dag_id: dagId, warning_type: type, message })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Replaces what the files of the bundle have been reported with. */
export async function replaceImportErrors(
  db: TenantDb,
  bundleName: string,
  errors: readonly { filename: string; stackTrace: string }[],
): Promise<void> {
  await db.deleteFrom('import_errors').where('bundle_name', '=', bundleName).execute();
  if (errors.length === 0) return;
  await db
    .insertInto('import_errors')
    .values(
      errors.map((error) => ({ bundle_name: bundleName, filename: error.filename, stack_trace: error.stackTrace })),
    )
    .execute();
}

/** Returns what the files of these DAGs have read, as it is stored. */
export async function readsOfDags(db: TenantDb, dagIds: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await db
    .selectFrom('dags')
    .select(['dag_id', sql<string | null>`values_read::text`.as('reads')])
    .where('dag_id', 'in', dagIds.length > 0 ? [...dagIds] : [''])
    .execute();
  return new Map(rows.map(({ dag_id: dagId, reads }) => [dagId, reads]));
}

/** Returns the stored content of versions. */
export const findVersionContents = (db: TenantDb, versions: readonly { dagId: string; version: number }[]) =>
  db
    .selectFrom('dag_versions')
    .select([
      'dag_id',
      'version_number',
      'content_hash',
      'spec',
      'image',
      'values_read',
      'bundle_version',
      'bundle_url',
    ])
    .where((eb) =>
      eb.or([
        eb.lit(false),
        ...versions.map(({ dagId, version }) => eb.and([eb('dag_id', '=', dagId), eb('version_number', '=', version)])),
      ]),
    )
    .execute();
