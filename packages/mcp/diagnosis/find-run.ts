/**
 * Chooses a run if none is named: the newest failed one, or else the newest one. For a DAG without runs, it reports
 * what is known. Such a DAG may never have been registered, because its file does not compile.
 */
import type { DagDetails, ImportError } from '@svc/client/wire-types.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { ControlPlaneError } from '../control-plane/failures.ts';
import type { RunRef } from '../control-plane/ids.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';
import { isOfFile, readImportErrors } from './dag-facts.ts';

export type NoRun = { dagId: string; dag: DagDetails | null; importErrors: ImportError[] };

/** Throws the error of the control plane if neither the DAG nor a file that may define it exists. */
export async function findRun(controlPlane: ControlPlane, dagId: string): Promise<RunRef | NoRun> {
  const path = { dag_id: dagId };
  const newest = (state?: readonly ['failed']) =>
    controlPlane.get('/api/v2/dags/{dag_id}/dagRuns', {
      path,
      query: { order_by: ['-run_after'], limit: 1, ...(state && { state }) },
    });
  try {
    const [failed, any] = await Promise.all([newest(['failed']), newest()]);
    const run = failed.dag_runs[0] ?? any.dag_runs[0];
    if (run) return { dagId, runId: run.dag_run_id };
    const dag = await controlPlane.get('/api/v2/dags/{dag_id}/details', { path });
    const importErrors = dag.has_import_errors ? await readImportErrors(controlPlane, isOfFile(dag)) : [];
    return { dagId, dag, importErrors };
  } catch (error) {
    return unregistered(controlPlane, dagId, error);
  }
}

/** Explains a missing DAG. The most likely reason is a file that does not compile. */
export async function unregistered(controlPlane: ControlPlane, dagId: string, error: unknown): Promise<NoRun> {
  if (!(error instanceof ControlPlaneError) || error.kind !== 'not_found') throw error;
  const names = (text: string): boolean => text.includes(dagId);
  const importErrors = await readImportErrors(
    controlPlane,
    ({ filename, stack_trace: trace }) => names(filename) || names(trace),
  );
  if (importErrors.length > 0) return { dagId, dag: null, importErrors };
  const others = await readImportErrors(controlPlane, () => true);
  if (others.length === 0) throw error;
  const files = others.map(({ filename }) => safeText(filename, 200)).join(', ');
  throw new ControlPlaneError(
    'not_found',
    `${error.message}. Files that do not compile could define it: ${files}; diagnose_run with the name of the file, without .py, as dag_id shows why`,
  );
}
