/** Changes runs: marks them, writes notes, deletes them. bulk.ts does it for several at once. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findRunKey, noteRun } from '../../db/dag-runs/dag-runs.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { SharedDb } from '../../db/database.ts';
import { deleteRun, markRun } from '../../engine/edit/change-run.ts';
import type { MarkableRunState } from '../../engine/edit/change-run.ts';
import { startQueuedRuns } from '../../engine/runs/start-run.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { existingRun, wholeRunBody } from './bodies.ts';
import { DagRun, DagRunUpdate, RUN_TAGS } from './schemas.ts';
import { ApiError } from '../../http/errors.ts';
import { removeLogs } from '../logs/remove.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { UpdateMaskQuery, applyUpdateMask } from '../../http/update-mask.ts';
import { RunParams, noSuchRun } from '../paths.ts';

export const RUN_PATCH_FIELDS = ['state', 'note'] as const;

/** A missing field changes nothing. A null note removes the note. */
export type RunPatch = { state?: MarkableRunState | null; note?: string | null };
type RunName = { dagId: string; runId: string };

export function registerRunChanges(app: App, services: Services): void {
  registerPatch(app, services);
  registerDelete(app, services);
}

/** Applies the state and the note of a PATCH, and starts the run if it waits again. */
export async function patchRun(
  request: FastifyRequest,
  { db, scheduler }: Services,
  { dagId, runId }: RunName,
  change: RunPatch,
): Promise<void> {
  const { tenantId, email } = principalOf(request);
  const noRun = () => noSuchRun({ dag_id: dagId, dag_run_id: runId });
  const effects = await db.shared.transaction().execute(async (trx) => {
    const scope = scopedToTenant(trx, tenantId);
    const key = await findRunKey(scope, dagId, runId);
    if (!key) throw noRun();
    const marked = change.state
      ? await markRun(trx, scheduler.graphs, { tenantId, run: key.id, state: change.state })
      : undefined;
    if (marked === null) throw noRun();
    if (change.note !== undefined) await noteRun(scope, key.id, { note: change.note, user: email });
    await recordAudit(scope, actorOf(request), {
      event: 'patch_dag_run',
      objectKind: 'dag_run',
      objectId: runId,
      dagId,
      runId,
      detail: { fields: Object.keys(change), state: change.state },
    });
    return marked;
  });
  if (effects) scheduler.applyEffects(effects);
  if (change.state === 'queued') {
    const start = (trx: SharedDb) => startQueuedRuns(trx, scheduler.graphs, { tenantId, dagId });
    (await db.shared.transaction().execute(start)).effects.forEach((each) => scheduler.applyEffects(each));
  }
}

/** Deletes a run with its logs. The run must have ended, or wait. */
export async function removeRun(
  request: FastifyRequest,
  { db, scheduler, logs }: Services,
  { dagId, runId }: RunName,
): Promise<void> {
  const { tenantId } = principalOf(request);
  const deletion = await db.shared.transaction().execute(async (trx) => {
    const scope = scopedToTenant(trx, tenantId);
    const key = await findRunKey(scope, dagId, runId);
    const result = key ? await deleteRun(trx, { tenantId, run: key.id }) : ({ kind: 'gone' } as const);
    if (result.kind === 'deleted') {
      await recordAudit(scope, actorOf(request), {
        event: 'delete_dag_run',
        objectKind: 'dag_run',
        objectId: runId,
        dagId,
        runId,
      });
    }
    return result;
  });
  if (deletion.kind === 'gone') throw noSuchRun({ dag_id: dagId, dag_run_id: runId });
  if (deletion.kind === 'running') {
    throw new ApiError('conflict', `run ${runId} of DAG ${dagId} is running: mark it as failed or successful first`);
  }
  scheduler.applyEffects(deletion.effects);
  await removeLogs(logs, { tenantId, dagId, runId }, request.log);
}

function registerPatch(app: App, services: Services): void {
  app.patch(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id',
    {
      config: { grows: 'dag', access: 'write:dag_run', refuses: ['conflict'] },
      schema: {
        operationId: 'patch_dag_run',
        tags: RUN_TAGS,
        summary: 'Mark a run as successful or failed, queue it again, or change its note',
        description:
          '`success` marks its tasks so, too; `failed` ends those that run and skips those that have not. A null state changes nothing, a null note takes it away.',
        params: RunParams,
        querystring: Type.Object(UpdateMaskQuery(RUN_PATCH_FIELDS)),
        body: DagRunUpdate,
        response: { 200: DagRun },
      },
    },
    async (request) => {
      const change = applyUpdateMask(request.body, request.query.update_mask, RUN_PATCH_FIELDS);
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      await patchRun(request, services, { dagId, runId }, change);
      const scope = databaseOf(request, services.db);
      return wholeRunBody(scope, await existingRun(scope, request.params));
    },
  );
}

function registerDelete(app: App, services: Services): void {
  app.delete(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id',
    {
      config: { access: 'write:dag_run', refuses: ['conflict'] },
      schema: {
        operationId: 'delete_dag_run',
        tags: RUN_TAGS,
        summary: 'Delete a run with its task instances, their values and logs',
        description: 'One that is running must be ended first: mark it as failed.',
        params: RunParams,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      await removeRun(request, services, { dagId, runId });
      return reply.code(204).send(null);
    },
  );
}
