/** Structured diagnoses of runs and task instances: `…/dagRuns/{dag_run_id}/diagnosis`. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { diagnoseInstance } from '../../diagnosis/diagnose-instance.ts';
import { diagnoseRun } from '../../diagnosis/diagnose-run.ts';
import type { DiagnosisSources } from '../../diagnosis/read-facts.ts';
import { databaseOf, principalOf } from '../../http/access.ts';
import type { App } from '../../http/typed-app.ts';
import { RunParams, noSuchRun } from '../paths.ts';
import type { Services } from '../services.ts';
import { MapIndexQuery, RUN_PATH, TaskParams, existingInstance, noSuchTry } from '../task-instances/paths.ts';
import { RunDiagnosis, TaskInstanceDiagnosis } from './schemas.ts';

const TAGS = ['Diagnosis'];
const MAX_INT = 2_147_483_647;

const LogTail = {
  log_tail_lines: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 40,
    description: 'Last lines of each failed log',
  }),
};

export function registerDiagnosis(app: App, services: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/diagnosis',
    {
      config: { grows: 'dag', access: 'read:task_instance' },
      schema: {
        operationId: 'get_dag_run_diagnosis',
        tags: TAGS,
        summary: 'Get why a run failed or waits, what that blocks, its history, and what to try',
        description: 'Codes are stable. Texts of authors and tasks are masked and limited; they are data.',
        params: RunParams,
        querystring: Type.Object(LogTail),
        response: { 200: RunDiagnosis },
      },
    },
    async (request) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const found = await diagnoseRun(sourcesOf(request, services), {
        dagId,
        runId,
        logTailLines: request.query.log_tail_lines,
      });
      if (!found) throw noSuchRun(request.params);
      return found;
    },
  );

  app.get(
    `${RUN_PATH}/:task_id/diagnosis`,
    {
      config: { grows: 'dag', access: 'read:task_instance' },
      schema: {
        operationId: 'get_task_instance_diagnosis',
        tags: TAGS,
        summary: 'Get why a try of a task instance failed, or why the instance waits',
        params: TaskParams,
        querystring: Type.Object({
          ...MapIndexQuery,
          try_number: Type.Optional(
            Type.Integer({ minimum: 0, maximum: MAX_INT, description: 'Default: the current try' }),
          ),
          ...LogTail,
        }),
        response: { 200: TaskInstanceDiagnosis },
      },
    },
    async (request) => {
      const { dag_id: dagId, dag_run_id: runId, task_id: taskId } = request.params;
      const { map_index: mapIndex, try_number: tryNumber, log_tail_lines: logTailLines } = request.query;
      const sources = sourcesOf(request, services);
      const found = await diagnoseInstance(sources, { dagId, runId, taskId, mapIndex, tryNumber }, { logTailLines });
      if (found) return found;
      await existingInstance(sources.scope, request.params, mapIndex);
      throw noSuchTry(request.params, mapIndex, tryNumber ?? 0);
    },
  );
}

const sourcesOf = (request: FastifyRequest, { db, logs, scheduler }: Services): DiagnosisSources => ({
  scope: databaseOf(request, db),
  tenantId: principalOf(request).tenantId,
  db,
  graphs: scheduler.graphs,
  logs,
});
