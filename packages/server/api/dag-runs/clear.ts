/** Clears a run: all of its tasks or only the failed ones run again. It can also add tasks that are new in the DAG. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findRunKey, findTaskIds, noteRun } from '../../db/dag-runs/dag-runs.ts';
import { findDag } from '../../db/dags/dags.ts';
import type { TenantDb } from '../../db/database.ts';
import { findInstances } from '../../db/task-instances/task-instances.ts';
import { clearRuns, previewClear } from '../../engine/edit/clear-many.ts';
import type { ClearOptions } from '../../engine/edit/clear.ts';
import type { RunKey } from '../../engine/edit/select-instances.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { existingRun, wholeRunBody } from './bodies.ts';
import { DagRun, DagRunClear, RUN_TAGS } from './schemas.ts';
import { readSpec } from '../dags/specs.ts';
import { RunParams, noSuchDag, noSuchRun } from '../paths.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { takesLatestVersion } from '../task-instances/rerun-version.ts';
import { instanceBodies } from '../task-instances/bodies.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import { TaskInstance } from '../task-instances/schemas.ts';

const NewTask = Type.Object(
  { task_id: Type.String(), task_display_name: Type.String() },
  { title: 'NewTask', description: 'A task that the run does not have yet' },
);
export const WouldBeCleared = Type.Object(
  { task_instances: Type.Array(Type.Union([TaskInstance, NewTask])), total_entries: Type.Integer() },
  { title: 'ClearTaskInstanceCollection' },
);

/** The answer of a dry run is not paged, and a run may have a hundred thousand instances. */
export const MAX_SHOWN = 20_000;

type ClearFlags = Pick<Static<typeof DagRunClear>, 'only_failed' | 'only_new'>;

export function optionsOf(body: ClearFlags, onLatestVersion: boolean): ClearOptions {
  const { only_failed: onlyFailed, only_new: onlyNew } = body;
  if (onlyFailed && onlyNew) {
    throw new ApiError('invalid_request', 'only_failed and only_new exclude each other: a new task has not failed yet');
  }
  return {
    tasks: onlyNew ? [] : null,
    onlyFailed,
    onLatestVersion: onLatestVersion || onlyNew,
    resetRun: true,
    preventRunning: false,
    includeUpstream: false,
    includeDownstream: false,
  };
}

export function registerRunClear(app: App, services: Services): void {
  const { db, scheduler } = services;
  const summaries = createTaskSummaries();
  app.post(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/clear',
    {
      config: { grows: 'instances', access: 'write:dag_run', refuses: ['conflict'] },
      schema: {
        operationId: 'clear_dag_run',
        tags: RUN_TAGS,
        summary: 'Clear the task instances of a run, so that they run again',
        description: 'With `dry_run`, the default, answers with what would be cleared; otherwise with the run.',
        params: RunParams,
        body: DagRunClear,
        response: { 200: Type.Union([WouldBeCleared, DagRun]) },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      const { tenantId } = principalOf(request);
      const wanted = request.body.run_on_latest_version;
      const options = optionsOf(request.body, await takesLatestVersion(request, services, { dagId, wanted }));
      const scope = databaseOf(request, db);
      const run = await findRunKey(scope, dagId, runId);
      if (!run) throw noSuchRun(request.params);
      const input = { tenantId, dagId, runs: [{ id: run.id, runId }], options };
      // The answer has one of two schemas, and the serialiser need not find out which. A custom serialiser sets no
      // content type, so it is set here.
      reply.type('application/json; charset=utf-8').serializer(JSON.stringify);
      if (request.body.dry_run) {
        if (request.body.only_new) {
          const tasks = await newTasks(scope, dagId, run.id);
          return { task_instances: tasks, total_entries: tasks.length };
        }
        const preview = await previewClear(db.shared, scheduler, input);
        const shown = await findInstances(scope, preview.slice(0, MAX_SHOWN));
        return { task_instances: await instanceBodies(scope, summaries, shown), total_entries: preview.length };
      }
      await clearRuns(db, scheduler, {
        ...input,
        whenCleared: (trx, cleared) => noteAndAudit({ request, trx, dagId, run: cleared }, request.body),
      });
      return wholeRunBody(scope, await existingRun(scope, request.params));
    },
  );
}

/** Writes the note of a clear, and its entry in the audit log, which does not contain the text. */
export async function noteAndAudit(
  { request, trx, dagId, run }: { request: FastifyRequest; trx: TenantDb; dagId: string; run: RunKey },
  { note = null, ...detail }: { note?: string | null },
): Promise<void> {
  if (note !== null) await noteRun(trx, run.id, { note, user: principalOf(request).email });
  await recordAudit(trx, actorOf(request), {
    event: 'clear_dag_run',
    objectKind: 'dag_run',
    objectId: run.runId,
    dagId,
    runId: run.runId,
    detail: { ...detail, ...(note !== null && { changed: ['note'] }) },
  });
}

/** Returns tasks of the newest version that the run does not have. */
export async function newTasks(db: TenantDb, dagId: string, run: number): Promise<Static<typeof NewTask>[]> {
  if (!(await findDag(db, dagId))) throw noSuchDag(dagId);
  const [spec, known] = await Promise.all([readSpec(db, dagId), findTaskIds(db, run)]);
  return spec.tasks
    .filter((task) => !known.has(task.task_id))
    .map((task) => ({ task_id: task.task_id, task_display_name: task.display_name }));
}
