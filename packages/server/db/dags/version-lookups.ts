/** What attempts and their calls need to know about a DAG and its versions. */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';

/** Returns the compiled spec of a version as JSON text, and the location of the DAG file at the last registration. */
export const findVersionSpec = (
  db: TenantDb,
  { dagId, versionNumber }: { dagId: string; versionNumber: number },
): Promise<{ spec: string; fileloc: string } | undefined> =>
  db
    .selectFrom('dag_versions as v')
    .innerJoin('dags', 'dags.dag_id', 'v.dag_id')
    .select(['v.spec', 'dags.fileloc'])
    .where('v.dag_id', '=', dagId)
    .where('v.version_number', '=', versionNumber)
    .executeTakeFirst();

/** Returns the compiled spec of a version as JSON text, and its image. */
export const findVersionImage = (
  db: TenantDb,
  { dagId, versionNumber }: { dagId: string; versionNumber: number },
): Promise<{ spec: string; image: string | null } | undefined> =>
  db
    .selectFrom('dag_versions')
    .select(['spec', 'image'])
    .where('dag_id', '=', dagId)
    .where('version_number', '=', versionNumber)
    .executeTakeFirst();

/** Returns the number, or undefined when there is no such DAG. */
export async function findCurrentVersion(db: TenantDb, dagId: string): Promise<number | undefined> {
  const dag = await db.selectFrom('dags').select('current_version').where('dag_id', '=', dagId).executeTakeFirst();
  return dag?.current_version;
}

/** Also false when there is no such DAG. */
export async function isDagPaused(db: TenantDb, dagId: string): Promise<boolean> {
  const dag = await db.selectFrom('dags').select('is_paused').where('dag_id', '=', dagId).executeTakeFirst();
  return dag?.is_paused === true;
}

/** Returns the newest version of a DAG and the versions of these runs, newest first. */
export async function findVersionsInUse(db: TenantDb, dagId: string, runs: readonly number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('dags')
    .select('current_version as version_number')
    .where('dag_id', '=', dagId)
    .union(
      db
        .selectFrom('dag_runs')
        .select('version_number')
        .where(sql<boolean>`id = any(${[...runs]}::bigint[])`),
    )
    .orderBy('version_number', 'desc')
    .execute();
  return rows.map(({ version_number: versionNumber }) => versionNumber);
}

/** Returns versions without their specs, with the author of their commit. Those that do not exist are omitted. */
export const listVersionsByNumber = (db: TenantDb, dagId: string, numbers: readonly number[]) =>
  db
    .selectFrom('dag_versions as v')
    .select(['v.version_number', 'v.created_at', 'v.bundle_name', 'v.bundle_version', 'v.bundle_url'])
    // From the newest on, because versions of recent runs come from recent deployments.
    .select((eb) =>
      eb
        .selectFrom('deployments as d')
        .select('d.author')
        .whereRef('d.bundle_name', '=', 'v.bundle_name')
        .whereRef('d.version', '=', 'v.bundle_version')
        .where('d.author', '<>', '')
        .orderBy('d.number', 'desc')
        .limit(1)
        .as('author'),
    )
    .where('v.dag_id', '=', dagId)
    .where('v.version_number', '=', sql<number>`any(${[...numbers]}::int[])`)
    .execute();
