/** Reads what explains a DAG and not one run: its details, and files that do not compile. Each may be missing. */
import type { Dag, DagDetails, ImportError } from '@svc/client/wire-types.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { ControlPlaneError } from '../control-plane/failures.ts';

const MAX_IMPORT_ERRORS = 3;

/** Returns null if the DAG cannot be read. The diagnosis continues without it. */
export async function readDag(controlPlane: ControlPlane, dagId: string): Promise<DagDetails | null> {
  return orNull(controlPlane.get('/api/v2/dags/{dag_id}/details', { path: { dag_id: dagId } }));
}

/** Returns the newest import errors, newest first. */
export async function readImportErrors(
  controlPlane: ControlPlane,
  isWanted: (error: ImportError) => boolean,
): Promise<ImportError[]> {
  const query = { order_by: ['-timestamp' as const], limit: 100 };
  const found = await orNull(controlPlane.get('/api/v2/importErrors', { query }));
  return found === null ? [] : found.import_errors.filter(isWanted).slice(0, MAX_IMPORT_ERRORS);
}

/** Selects import errors of the file of a DAG. */
export const isOfFile =
  ({ relative_fileloc: file }: Pick<Dag, 'relative_fileloc'>) =>
  ({ filename }: ImportError): boolean =>
    filename === file;

async function orNull<T>(part: Promise<T>): Promise<T | null> {
  try {
    return await part;
  } catch (error) {
    if (error instanceof ControlPlaneError) return null;
    throw error;
  }
}
