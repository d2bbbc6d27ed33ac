/** The parsed spec of a version. Versions never change, so a cached one is always valid. */
import { parseExact } from '@svc/spec/exact-json.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { findVersionText } from '../../db/dags/dag-versions.ts';
import type { TenantDb } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';

/** Returns the spec of a numbered version, or of the newest one. */
export async function readSpec(db: TenantDb, dagId: string, versionNumber?: number): Promise<CompiledSpec> {
  const version = await findVersionText(db, dagId, versionNumber);
  if (!version) {
    const which = versionNumber === undefined ? '' : ` version ${versionNumber} of`;
    throw new ApiError('not_found', `There is no${which} Dag with ID: \`${dagId}\``);
  }
  return (await parseJsonInTurns(version.spec, { parse: parseExact })) as CompiledSpec;
}
