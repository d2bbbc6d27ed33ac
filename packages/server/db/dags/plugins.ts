/** Plugins of authors, by the bundle whose DAGs were compiled with them. */
import { sql } from 'kysely';
import type { PluginsSection } from '@svc/spec/schema.ts';
import type { TenantDb } from '../database.ts';

export type BundlePlugins = { bundle: string; plugins: PluginsSection };

/** Returns one entry per bundle: the plugins of its last registered DAG. */
export async function listBundlePlugins(db: TenantDb): Promise<BundlePlugins[]> {
  const rows = await db
    .selectFrom('dags')
    .distinctOn('bundle_name')
    .select(['bundle_name as bundle', 'plugins'])
    .where('is_stale', '=', false)
    .where('plugins', 'is not', null)
    .orderBy('bundle_name')
    .orderBy('last_parsed_at', 'desc')
    .execute();
  return rows.flatMap(({ bundle, plugins }) => (plugins === null ? [] : [{ bundle, plugins }]));
}

/** Records that a worker found no listener for runs. It expires after a while, and when the DAG is registered again. */
export async function noteUnheard(db: TenantDb, dagId: string): Promise<void> {
  await db
    .updateTable('dags')
    .set({ plugins: sql<string>`jsonb_set(plugins::jsonb, '{unheard_at}', to_jsonb(now()))::json` })
    .where('dag_id', '=', dagId)
    .where('plugins', 'is not', null)
    .execute();
}
