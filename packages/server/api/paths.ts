/** How paths name DAGs and runs, for all resources below them. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ApiError } from '../http/errors.ts';

/** The path segment for all DAGs, or for all runs. */
export const ALL = '~';

export const RunParams = Type.Object({ dag_id: Type.String(), dag_run_id: Type.String() });
export type RunInPath = Static<typeof RunParams>;

export const noSuchDag = (dagId: string): ApiError =>
  new ApiError('not_found', `The Dag with ID: \`${dagId}\` was not found`);

export const noSuchRun = ({ dag_id: dagId, dag_run_id: runId }: RunInPath): ApiError =>
  new ApiError('not_found', `The DagRun with dag_id: \`${dagId}\` and run_id: \`${runId}\` was not found`);

/** The error for a DAG whose runs still exist, but which cannot start new ones. */
export const staleDag = (dagId: string): ApiError =>
  new ApiError(
    'not_found',
    `The Dag with ID: \`${dagId}\` is stale: its file is gone, or defines it no more. Deploy it again to run it`,
  );
