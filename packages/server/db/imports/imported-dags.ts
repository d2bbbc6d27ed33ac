/** DAGs that are known only from an Airflow: stale, with tasks and no code. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import { lockDag } from '../dags/dags.ts';
import type { DagValues } from '../dags/dags.ts';
import { IMPORTED_VERSION } from './imported-version.ts';

export const IMPORTED_BUNDLE = 'imported-from-airflow';

export type StoredDag = { dag_id: string; is_paused: boolean; current_version: number };

export const findDags = (db: TenantDb, dagIds: readonly string[]): Promise<StoredDag[]> =>
  db
    .selectFrom('dags')
    .select(['dag_id', 'is_paused', 'current_version'])
    .where('dag_id', '=', sql<string>`any(${[...dagIds]}::text[])`)
    .execute();

export type ImportedDag = Pick<
  DagValues,
  'dag_id' | 'display_name' | 'description' | 'fileloc' | 'relative_fileloc' | 'owners' | 'tags' | 'is_paused'
> & {
  /** The compiled spec, as text. */
  spec: string;
};

/**
 * Runs in a transaction. An existing DAG stays as it is: only the version of its imported runs is added, or replaced
 * when more tasks are known. When the DAG is deployed, it gets its first own version and is no longer stale.
 */
export async function saveImportedDag(db: TenantDb, dag: ImportedDag): Promise<{ isNew: boolean }> {
  const { spec, ...values } = dag;
  await lockDag(db, dag.dag_id);
  const inserted = await db
    .insertInto('dags')
    .values({
      ...values,
      is_stale: true,
      bundle_name: IMPORTED_BUNDLE,
      bundle_version: null,
      timetable: JSON.stringify({ type: 'null' }),
      timetable_summary: null,
      timetable_description: null,
      catchup: false,
      max_active_runs: 16,
      max_active_tasks: 16,
      max_consecutive_failed_dag_runs: 0,
      has_task_concurrency_limits: false,
      allowed_run_types: null,
      current_version: IMPORTED_VERSION,
      last_parse_seconds: null,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'dag_id']).doNothing())
    .returning('dag_id')
    .executeTakeFirst();
  const contentHash = createHash('sha256').update(spec).digest('hex');
  const known = await db
    .selectFrom('dag_versions')
    .select('content_hash')
    .where('dag_id', '=', dag.dag_id)
    .where('version_number', '=', IMPORTED_VERSION)
    .executeTakeFirst();
  if (known?.content_hash !== contentHash) {
    await db
      .deleteFrom('dag_versions')
      .where('dag_id', '=', dag.dag_id)
      .where('version_number', '=', IMPORTED_VERSION)
      .execute();
    await db
      .insertInto('dag_versions')
      .values({
        dag_id: dag.dag_id,
        version_number: IMPORTED_VERSION,
        content_hash: contentHash,
        spec,
        source: null,
        bundle_name: IMPORTED_BUNDLE,
        bundle_version: null,
        bundle_url: null,
        image: null,
      })
      .execute();
  }
  return { isNew: inserted !== undefined };
}

/** Returns the spec of earlier imports, if there is one, so that its tasks stay known. */
export async function findImportedSpec(db: TenantDb, dagId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('dag_versions')
    .select('spec')
    .where('dag_id', '=', dagId)
    .where('version_number', '=', IMPORTED_VERSION)
    .executeTakeFirst();
  return row?.spec;
}
