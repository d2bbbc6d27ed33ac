/** How paths name DAGs and runs, for every resource below them. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { ApiError } from '../http/errors.ts';

/** Path segment that stands for all DAGs, or all runs. */
export const ALL = '~';

export const RunParams = Type.Object({ dag_id: Type.String(), dag_run_id: Type.String() });
export type RunInPath = Static<typeof RunParams>;

export const noSuchDag = (dagId: string): ApiError =>
  new ApiError('not_found', `The Dag with ID: \`${dagId}\` was not found`);

export const noSuchRun = ({ dag_id: dagId, dag_run_id: runId }: RunInPath): ApiError =>
  new ApiError('not_found', `The DagRun with dag_id: \`${dagId}\` and run_id: \`${runId}\` was not found`);

/** It was there once, and its runs still are; but nothing new can be started of it. */
export const staleDag = (dagId: string): ApiError =>
  new ApiError(
    'not_found',
    `The Dag with ID: \`${dagId}\` is stale: its file is gone, or defines it no more. Deploy it again to run it`,
  );
