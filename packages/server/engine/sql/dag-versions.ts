/** Compiled specs by version. */
import type { SharedDb } from '../../db/database.ts';

export type VersionRef = { tenantId: string; dagId: string; versionNumber: number };

/** The text of the compiled spec. Plan: primary key of dag_versions. */
export async function readSpec(db: SharedDb, ref: VersionRef): Promise<string | undefined> {
  const row = await db
    .selectFrom('dag_versions')
    .select('spec')
    .where('tenant_id', '=', ref.tenantId)
    .where('dag_id', '=', ref.dagId)
    .where('version_number', '=', ref.versionNumber)
    .executeTakeFirst();
  return row?.spec;
}
