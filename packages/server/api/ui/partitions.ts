/** Runs that wait for the events of one partition. No timetable of ours collects by partition, so none can be waiting. */
import { Type } from 'typebox';
import { findDag } from '../../db/dags/dags.ts';
import { databaseOf } from '../../http/access.ts';
import { noSuchDag } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import { Nullable } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';

const Common = {
  id: Type.Integer(),
  partition_key: Type.String(),
  created_at: Nullable(Type.String()),
  created_dag_run_id: Nullable(Type.String()),
  total_received: Type.Integer(),
  total_required: Type.Integer(),
};

export function registerUiPartitions(app: App, { db }: Services): void {
  app.get(
    '/ui/partitioned_dag_runs',
    {
      config: { access: 'read:dag_run', refuses: ['not_found'] },
      schema: {
        operationId: 'get_partitioned_dag_runs',
        tags: ['UI'],
        summary: 'List runs that wait for a partition',
        querystring: Type.Object({
          dag_id: Type.Optional(Type.String()),
          has_created_dag_run_id: Type.Optional(Type.Boolean()),
        }),
        response: {
          200: Type.Object({
            partitioned_dag_runs: Type.Array(
              Type.Object({ ...Common, dag_id: Nullable(Type.String()), state: Nullable(Type.String()) }),
            ),
            total: Type.Integer(),
            asset_expressions: Type.Null(),
          }),
        },
      },
    },
    async (request) => {
      const { dag_id: dagId } = request.query;
      if (dagId !== undefined && !(await findDag(databaseOf(request, db), dagId))) throw noSuchDag(dagId);
      return { partitioned_dag_runs: [], total: 0, asset_expressions: null };
    },
  );

  app.get(
    '/ui/pending_partitioned_dag_run/:dag_id/:partition_key',
    {
      config: { access: 'read:dag_run' },
      schema: {
        operationId: 'get_pending_partitioned_dag_run',
        tags: ['UI'],
        summary: 'What a run still waits for in its partition',
        params: Type.Object({ dag_id: Type.String(), partition_key: Type.String() }),
        response: {
          200: Type.Object({
            ...Common,
            dag_id: Type.String(),
            updated_at: Nullable(Type.String()),
            assets: Type.Array(Type.Unknown()),
            asset_expression: Type.Null(),
          }),
        },
      },
    },
    async (request) => {
      const { dag_id: dagId, partition_key: key } = request.params;
      if (!(await findDag(databaseOf(request, db), dagId))) throw noSuchDag(dagId);
      throw new ApiError('not_found', `No PartitionedDagRun for dag_id ${dagId} and partition ${key}`);
    },
  );
}
