/** Changes all task instances of a group in one run: marks them, or writes a note on each. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findInstances, findInstancesOfTasks, noteInstances } from '../../db/task-instances/task-instances.ts';
import type { ListedInstance } from '../../db/task-instances/task-instances.ts';
import { markRuns, previewMark } from '../../engine/edit/mark-many.ts';
import type { MarkOptions, MarkableState } from '../../engine/edit/mark.ts';
import { actorOf, databaseOf, principalOf } from '../../http/access.ts';
import { ApiError } from '../../http/errors.ts';
import type { App } from '../../http/typed-app.ts';
import { UpdateMaskQuery } from '../../http/update-mask.ts';
import type { TaskSummaries } from '../dags/task-summaries.ts';
import { RunParams } from '../paths.ts';
import type { Services } from '../services.ts';
import { tasksOfGroup } from '../dags/tasks-of-group.ts';
import { instanceBodies } from './bodies.ts';
import { PATCH_FIELDS, masked, runsToMark, stateOf } from './changes.ts';
import { TAGS, existingRunKey } from './paths.ts';
import { PatchBody, TaskInstanceCollection } from './schemas.ts';

const PATH = '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskGroupInstances/:group_id';
const GroupParams = Type.Object({ ...RunParams.properties, group_id: Type.String() });

/** The tasks of a group in the version of a run. */
type Group = { dagId: string; runId: string; run: number; groupId: string; taskIds: string[] };

export function registerTaskGroups(app: App, services: Services, summaries: TaskSummaries): void {
  const listed = async (request: FastifyRequest, rows: readonly ListedInstance[]) => ({
    task_instances: await instanceBodies(databaseOf(request, services.db), summaries, rows),
    total_entries: rows.length,
    total_entries_limit: null,
    next_cursor: null,
    previous_cursor: null,
  });
  const common = { tags: TAGS, params: GroupParams, body: PatchBody, response: { 200: TaskInstanceCollection } };

  app.patch(
    PATH,
    {
      config: { grows: 'instances', access: 'write:task_instance', refuses: ['conflict'] },
      schema: {
        ...common,
        operationId: 'patch_task_group_instances',
        summary: 'Mark all task instances of a group, or write a note on them',
        description: 'Groups inside the group belong to it. Answers with the task instances of the group in this run.',
        querystring: Type.Object(UpdateMaskQuery(PATCH_FIELDS)),
      },
    },
    async (request) => {
      const group = await existingGroup(request, services, request.params);
      const fields = request.query.update_mask;
      const body = masked(request.body, fields);
      const state = stateOf(body);
      if (state !== undefined) await markGroup({ request, services, group, body, state });
      const isNoteNamed = fields?.includes('note') ?? false;
      if (body.note !== undefined && (body.note !== null || isNoteNamed)) {
        await noteGroup({ request, services, group, note: body.note });
      }
      return listed(request, await instancesOf(request, services, group));
    },
  );

  app.patch(
    `${PATH}/dry_run`,
    {
      config: { grows: 'instances', access: 'write:task_instance', refuses: ['conflict'] },
      schema: {
        ...common,
        operationId: 'patch_task_group_instances_dry_run',
        summary: 'List the task instances that marking a group would change',
        querystring: Type.Object(UpdateMaskQuery(PATCH_FIELDS)),
      },
    },
    async (request) => {
      const group = await existingGroup(request, services, request.params);
      const body = masked(request.body, request.query.update_mask);
      const state = stateOf(body);
      if (state === undefined) return listed(request, []);
      const places = await previewMark(
        services.db.shared,
        services.scheduler,
        await markingOf({ request, services, group, body, state }),
      );
      return listed(request, await findInstances(databaseOf(request, services.db), places));
    },
  );
}

async function existingGroup(
  request: FastifyRequest,
  { db, scheduler }: Services,
  params: Static<typeof GroupParams>,
): Promise<Group> {
  const { dag_id: dagId, dag_run_id: runId, group_id: groupId } = params;
  const run = await existingRunKey(databaseOf(request, db), params);
  const { tenantId } = principalOf(request);
  const { spec } = await scheduler.graphs.get(db.shared, { tenantId, dagId, versionNumber: run.version_number });
  if (!spec.groups.some((group) => group.group_id === groupId)) {
    throw new ApiError('not_found', `Task group '${groupId}' not found in DAG '${dagId}'`);
  }
  return { dagId, runId, run: run.id, groupId, taskIds: tasksOfGroup(spec, groupId) };
}

const instancesOf = (request: FastifyRequest, { db }: Services, group: Group): Promise<ListedInstance[]> =>
  findInstancesOfTasks(databaseOf(request, db), group.run, group.taskIds);

type Marking = {
  request: FastifyRequest;
  services: Services;
  group: Group;
  body: Static<typeof PatchBody>;
  state: MarkableState;
};

async function markingOf({ request, services, group, body, state }: Marking) {
  const options: MarkOptions = {
    tasks: group.taskIds.map((taskId) => ({ taskId })),
    state,
    includeUpstream: body.include_upstream ?? false,
    includeDownstream: body.include_downstream ?? false,
  };
  const runs = await runsToMark(request, services, group, body);
  return { tenantId: principalOf(request).tenantId, dagId: group.dagId, runs, options };
}

async function markGroup(marking: Marking): Promise<void> {
  const { request, services, group, state } = marking;
  const input = await markingOf(marking);
  if ((await previewMark(services.db.shared, services.scheduler, input)).length === 0) {
    throw new ApiError('conflict', `All task instances in the group are already in ${state} state`);
  }
  await markRuns(services.db, services.scheduler, {
    ...input,
    whenMarked: (trx, run, { marked, cleared }) =>
      recordAudit(trx, actorOf(request), {
        ...entryOf(group, run.runId),
        detail: { group_id: group.groupId, new_state: state, marked: marked.length, cleared: cleared.length },
      }),
  });
}

async function noteGroup(input: {
  request: FastifyRequest;
  services: Services;
  group: Group;
  note: string | null;
}): Promise<void> {
  const { request, services, group, note } = input;
  const rows = await instancesOf(request, services, group);
  const places = rows.map((row) => ({ run: row.run, taskId: row.task_id, mapIndex: row.map_index }));
  await databaseOf(request, services.db)
    .transaction()
    .execute(async (trx) => {
      await noteInstances(trx, places, { note, user: principalOf(request).email });
      await recordAudit(trx, actorOf(request), {
        ...entryOf(group, group.runId),
        detail: { group_id: group.groupId, changed: ['note'] },
      });
    });
}

const entryOf = ({ dagId, groupId }: Group, runId: string) => ({
  event: 'patch_task_group_instances',
  objectKind: 'task_instance',
  objectId: `${dagId}/${runId}/${groupId}`,
  dagId,
  runId,
});
