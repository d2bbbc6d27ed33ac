/** The asset watchers of the current versions of DAGs. */
import type { TenantDb } from '../database.ts';

export type NewWatcher = {
  assetName: string;
  assetUri: string;
  name: string;
  classPath: string;
  /** JSON, as the compiler encodes values. */
  kwargs: string;
  /** Equal for equal triggers. */
  hash: string;
};

export async function replaceWatchers(
  trx: TenantDb,
  input: { dagId: string; versionNumber: number; watchers: readonly NewWatcher[] },
): Promise<void> {
  const { dagId, versionNumber, watchers } = input;
  await trx.deleteFrom('asset_watchers').where('dag_id', '=', dagId).execute();
  if (watchers.length === 0) return;
  const rows = watchers.map(({ assetName, assetUri, name, classPath, kwargs, hash }) => ({
    dag_id: dagId,
    version_number: versionNumber,
    asset_name: assetName,
    asset_uri: assetUri,
    name,
    class_path: classPath,
    kwargs,
    hash,
  }));
  await trx.insertInto('asset_watchers').values(rows).execute();
}
