/** The effects of PATCH and DELETE on task instances, for single and bulk requests. */
import type { FastifyRequest } from 'fastify';
import type { TaskState } from '@svc/spec/states.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { scopedToTenant } from '../../db/database.ts';
import { findInstancesOfTask, noteInstances } from '../../db/task-instances/task-instances.ts';
import type { InstanceOfRun, ListedInstance } from '../../db/task-instances/task-instances.ts';
import { markRuns, previewMark } from '../../engine/edit/mark-many.ts';
import { deleteInRun } from '../../engine/edit/mark.ts';
import type { MarkOptions, MarkableState } from '../../engine/edit/mark.ts';
import { findRuns } from '../../engine/edit/select-instances.ts';
import type { RunKey } from '../../engine/edit/select-instances.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { Services } from '../services.ts';
import { existingRunKey, noSuchInstance } from './paths.ts';
import { applyUpdateMask } from '../../http/update-mask.ts';

/** The instances of one task in one run. Without a map index, it means all of them. */
export type Target = { dagId: string; runId: string; taskId: string; mapIndex: number | undefined };

export type PatchBody = {
  new_state?: TaskState | null;
  note?: string | null;
  include_upstream?: boolean;
  include_downstream?: boolean;
  include_past?: boolean;
  include_future?: boolean;
};

export const PATCH_FIELDS = ['new_state', 'note'] as const;

/** Returns the addressed rows, at least one. */
export async function addressed(request: FastifyRequest, { db }: Services, target: Target): Promise<ListedInstance[]> {
  const scope = databaseOf(request, db);
  const params = { dag_id: target.dagId, dag_run_id: target.runId, task_id: target.taskId };
  const run = await existingRunKey(scope, params);
  const all = await findInstancesOfTask(scope, run.id, target.taskId);
  const rows = target.mapIndex === undefined ? all : all.filter((row) => row.map_index === target.mapIndex);
  if (rows.length === 0) throw noSuchInstance(params, target.mapIndex);
  return rows;
}

const markOptions = (target: Target, body: PatchBody, state: MarkableState): MarkOptions => ({
  tasks: [{ taskId: target.taskId, ...(target.mapIndex !== undefined && { mapIndex: target.mapIndex }) }],
  state,
  includeUpstream: body.include_upstream ?? false,
  includeDownstream: body.include_downstream ?? false,
});

/** Returns the runs to mark. A run without a logical date has no past and no future, so it is marked alone. */
export async function runsToMark(
  request: FastifyRequest,
  { db }: Services,
  target: Pick<Target, 'dagId' | 'runId'>,
  body: PatchBody,
): Promise<RunKey[]> {
  const scope = databaseOf(request, db);
  const choice = {
    runId: target.runId,
    includePast: body.include_past ?? false,
    includeFuture: body.include_future ?? false,
  };
  const found = await findRuns(scope, target.dagId, choice);
  if (found.kind === 'found') return found.runs;
  const alone = await findRuns(scope, target.dagId, { ...choice, includePast: false, includeFuture: false });
  return alone.kind === 'found' ? alone.runs : [];
}

/** Returns the instances that a new state would change. */
export async function previewPatch(
  request: FastifyRequest,
  services: Services,
  target: Target,
  body: PatchBody,
): Promise<InstanceOfRun[]> {
  const state = stateOf(body);
  if (state === undefined) return [];
  return previewMark(services.db.shared, services.scheduler, {
    tenantId: principalOf(request).tenantId,
    dagId: target.dagId,
    runs: await runsToMark(request, services, target, body),
    options: markOptions(target, body, state),
  });
}

/** The schema accepts only these three states. */
export const stateOf = (body: PatchBody): MarkableState | undefined =>
  (body.new_state ?? undefined) as MarkableState | undefined;

/** Removes fields that the mask does not name. */
export function masked(body: PatchBody, mask: readonly string[] | null | undefined): PatchBody {
  const { new_state: _state, note: _note, ...flags } = body;
  return { ...flags, ...applyUpdateMask(pick(body), mask, PATCH_FIELDS) };
}

/** Applies the state and the note of a PATCH. Fields outside the mask stay unchanged. */
export async function applyPatch(input: {
  request: FastifyRequest;
  services: Services;
  target: Target;
  body: PatchBody;
  mask: readonly string[] | null | undefined;
}): Promise<void> {
  const { request, services, target, mask } = input;
  const body = masked(input.body, mask);
  const rows = await addressed(request, services, target);
  const state = stateOf(body);
  if (state !== undefined) {
    const preview = await previewPatch(request, services, target, body);
    if (preview.length === 0) {
      throw new ApiError('conflict', `Task id ${target.taskId} is already in ${state} state`);
    }
    await mark({ request, services, target, body, state });
  }
  const isNoteNamed = mask?.includes('note') ?? false;
  if (body.note !== undefined && (body.note !== null || isNoteNamed)) {
    await takeNote({ request, services, target, rows, note: body.note });
  }
}

const pick = ({ new_state: state, note }: PatchBody): PatchBody => ({
  ...(state !== undefined && { new_state: state }),
  ...(note !== undefined && { note }),
});

async function mark(input: {
  request: FastifyRequest;
  services: Services;
  target: Target;
  body: PatchBody;
  state: MarkableState;
}): Promise<void> {
  const { request, services, target, body, state } = input;
  await markRuns(services.db, services.scheduler, {
    tenantId: principalOf(request).tenantId,
    dagId: target.dagId,
    runs: await runsToMark(request, services, target, body),
    options: markOptions(target, body, state),
    whenMarked: (trx, run, { marked, cleared }) =>
      recordAudit(trx, actorOf(request), {
        event: 'patch_task_instance',
        objectKind: 'task_instance',
        objectId: `${target.dagId}/${run.runId}/${target.taskId}`,
        dagId: target.dagId,
        runId: run.runId,
        taskId: target.taskId,
        ...(target.mapIndex !== undefined && { mapIndex: target.mapIndex }),
        detail: { new_state: state, marked: marked.length, cleared: cleared.length },
      }),
  });
}

async function takeNote(input: {
  request: FastifyRequest;
  services: Services;
  target: Target;
  rows: readonly ListedInstance[];
  note: string | null;
}): Promise<void> {
  const { request, services, target, rows, note } = input;
  await databaseOf(request, services.db)
    .transaction()
    .execute(async (trx) => {
      const places = rows.map((row) => ({ run: row.run, taskId: row.task_id, mapIndex: row.map_index }));
      await noteInstances(trx, places, { note, user: principalOf(request).email });
      await recordAudit(trx, actorOf(request), {
        event: 'patch_task_instance',
        objectKind: 'task_instance',
        objectId: `${target.dagId}/${target.runId}/${target.taskId}`,
        dagId: target.dagId,
        runId: target.runId,
        taskId: target.taskId,
        ...(target.mapIndex !== undefined && { mapIndex: target.mapIndex }),
        detail: { changed: ['note'] },
      });
    });
}

/** Deletes an instance. The row must exist. */
export async function removeInstance(
  request: FastifyRequest,
  services: Services,
  row: ListedInstance,
): Promise<boolean> {
  const { db, scheduler } = services;
  const { tenantId } = principalOf(request);
  const outcome = await db.shared.transaction().execute(async (trx) => {
    const key = { taskId: row.task_id, mapIndex: row.map_index };
    const deleted = await deleteInRun(trx, scheduler, { tenantId, dagId: row.dag_id, run: row.run }, key);
    if (deleted.kind === 'deleted') {
      await recordAudit(scopedToTenant(trx, tenantId), actorOf(request), {
        event: 'delete_task_instance',
        objectKind: 'task_instance',
        objectId: `${row.dag_id}/${row.run_id}/${row.task_id}`,
        dagId: row.dag_id,
        runId: row.run_id,
        taskId: row.task_id,
        mapIndex: row.map_index,
      });
    }
    return deleted;
  });
  if (outcome.kind !== 'deleted') return false;
  scheduler.applyEffects(outcome.effects);
  return true;
}
