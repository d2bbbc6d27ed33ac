/**
 * What lists show in addition to the rows of task instances: versions, rendered fields, and limits of those that wait.
 */
import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { InstanceOfRun } from './task-instances.ts';
import { OCCUPYING } from '../state-sets.ts';

export type VersionOfInstance = {
  id: string;
  dag_id: string;
  version_number: number;
  bundle_name: string;
  bundle_version: string | null;
  bundle_url: string | null;
  created_at: string;
  display_name: string;
  is_paused: boolean;
};

/** Returns the versions of these instances, with the current name of their DAG and whether it is paused. */
export async function findVersionsOf(
  db: TenantDb,
  rows: readonly { dag_id: string; version_number: number }[],
): Promise<VersionOfInstance[]> {
  const wanted = [...new Map(rows.map((row) => [`${row.version_number} ${row.dag_id}`, row])).values()];
  if (wanted.length === 0) return [];
  return db
    .selectFrom('dag_versions as v')
    .innerJoin('dags as d', 'd.dag_id', 'v.dag_id')
    .select([
      'v.id',
      'v.dag_id',
      'v.version_number',
      'v.bundle_name',
      'v.bundle_version',
      'v.bundle_url',
      'v.created_at',
    ])
    .select(['d.display_name', 'd.is_paused'])
    .where(
      sql<boolean>`(v.dag_id, v.version_number) in (select * from
        unnest(${wanted.map((row) => row.dag_id)}::text[], ${wanted.map((row) => row.version_number)}::int[]))`,
    )
    .execute();
}

/** Returns the newest version of each DAG, or the one with the given number. */
export function findDagVersions(
  db: TenantDb,
  { dagIds, versionNumber }: { dagIds?: readonly string[] | undefined; versionNumber?: number | undefined },
): Promise<{ id: string; dag_id: string }[]> {
  let versions = db
    .selectFrom('dags as d')
    .innerJoin('dag_versions as v', (join) => {
      const same = join.onRef('v.dag_id', '=', 'd.dag_id');
      return versionNumber === undefined
        ? same.onRef('v.version_number', '=', 'd.current_version')
        : same.on('v.version_number', '=', versionNumber);
    })
    .select(['v.id', 'v.dag_id']);
  if (dagIds) versions = versions.where(sql<boolean>`d.dag_id = any(${[...dagIds]}::text[])`);
  return versions.execute();
}

/** Returns JSON text by the key of the instance. */
export async function findRenderedFields(
  db: TenantDb,
  keys: readonly InstanceOfRun[],
): Promise<(InstanceOfRun & { fields: string })[]> {
  if (keys.length === 0) return [];
  return db
    .selectFrom('rendered_fields as f')
    .select(['f.run', 'f.task_id as taskId', 'f.map_index as mapIndex', 'f.fields'])
    .where(
      sql<boolean>`(f.run, f.task_id, f.map_index) in (select * from unnest(${keys.map((key) => key.run)}::bigint[],
        ${keys.map((key) => key.taskId)}::text[], ${keys.map((key) => key.mapIndex)}::int[]))`,
    )
    .execute();
}

export type PoolUse = { name: string; slots: number; used: number };

/**
 * Counts the instances that hold slots now. Query plan: index task_instances_active, as many rows as active instances.
 */
export async function findPoolUse(db: TenantDb, names: readonly string[]): Promise<PoolUse[]> {
  if (names.length === 0) return [];
  const [pools, uses] = await Promise.all([
    db
      .selectFrom('pools')
      .select(['name', 'slots'])
      .where('name', 'in', [...names])
      .execute(),
    db
      .selectFrom('task_instances as t')
      .select(['t.pool', sql<number>`sum(t.pool_slots)::bigint`.as('used')])
      .where('t.pool', 'in', [...names])
      .where(sql<boolean>`t.state in ${OCCUPYING.raw}`)
      .groupBy('t.pool')
      .execute(),
  ]);
  const used = new Map(uses.map((use) => [use.pool, use.used]));
  return pools.map((pool) => ({ ...pool, used: used.get(pool.name) ?? 0 }));
}

/** Finds a run by the ids in its path. */
export const findRunKey = (db: TenantDb, dagId: string, runId: string) =>
  db
    .selectFrom('dag_runs')
    .select(['id', 'dag_id', 'run_id', 'state', 'logical_date', 'version_number'])
    .where('dag_id', '=', dagId)
    .where('run_id', '=', runId)
    .executeTakeFirst();

export async function countRunningRuns(db: TenantDb, dagId: string): Promise<number> {
  const { count } = await db
    .selectFrom('dag_runs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('dag_id', '=', dagId)
    .where(sql<boolean>`state = 'running' and backfill_id is null`)
    .executeTakeFirstOrThrow();
  return count;
}
