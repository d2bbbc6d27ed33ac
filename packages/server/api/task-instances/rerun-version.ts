/** The version with which cleared runs run again: what the request says, else what the DAG says, else their own. */
import type { FastifyRequest } from 'fastify';
import { findCurrentVersion } from '../../db/dags/version-lookups.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import type { Services } from '../services.ts';

export async function takesLatestVersion(
  request: FastifyRequest,
  { db, scheduler }: Services,
  { dagId, wanted }: { dagId: string; wanted: boolean | null | undefined },
): Promise<boolean> {
  if (wanted !== undefined && wanted !== null) return wanted;
  const versionNumber = await findCurrentVersion(databaseOf(request, db), dagId);
  if (versionNumber === undefined) return false;
  const { tenantId } = principalOf(request);
  const { spec } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber });
  return spec.dag.rerun_with_latest_version ?? false;
}
