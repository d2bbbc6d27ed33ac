/** Questions of tasks to people (human in the loop): lists waiting questions and records answers. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PARKED_STATES, TASK_STATES, isParked } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { recordAudit } from '../../db/identity/audit-log.ts';
import { findDag } from '../../db/dags/dags.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { TenantDb } from '../../db/database.ts';
import { findHitlDetail, listHitlDetails } from '../../db/task-instances/hitl.ts';
import type { Answer, HitlRequest, HitlColumn, HitlQuery } from '../../db/task-instances/hitl.ts';
import { findTry } from '../../db/task-instances/try-history.ts';
import { answerAndGoOn } from '../../engine/advance/hitl.ts';
import { actorOf, databaseOf, principalOf, requirePermission } from '../../http/access.ts';
import { ALL, RunParams, noSuchDag } from '../paths.ts';
import { createTaskSummaries } from '../dags/task-summaries.ts';
import { ApiError } from '../../http/errors.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { parseOrderBy } from '../../http/ordering.ts';
import { PatternQuery, parsePatterns } from '../../http/patterns.ts';
import { answerProblem, hitlBodies, hitlFields } from './bodies.ts';
import { comparisonsOf, rangeProperties } from '../../http/ranges.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from '../../http/schemas.ts';
import type { App } from '../../http/typed-app.ts';
import type { Services } from '../services.ts';
import { tryBodies } from '../task-instances/bodies.ts';
import { MappedParams, RUN_PATH, existingInstance, existingRunKey } from '../task-instances/paths.ts';
import { MapIndex, TaskInstance, TaskInstanceTry } from '../task-instances/schemas.ts';

const TAGS = ['Human in the loop'];
const ORDER_COLUMNS = {
  ti_id: 'ti_id',
  subject: 'subject',
  responded_at: 'responded_at',
  created_at: 'created_at',
  responded_by_user_id: 'responded_by_id',
  responded_by_user_name: 'responded_by_name',
  // Fields of the task, by which the web UI sorts.
  dag_id: 'dag_id',
  run_id: 'run_id',
  run_after: 'run_after',
  task_display_name: 'task_id',
  rendered_map_index: 'map_index',
  task_instance_operator: 'operator',
  task_instance_state: 'state',
} as const satisfies Record<string, HitlColumn>;

const HitlUser = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'HitlUser' });
/** What the task asked and received. */
const masking = maskedWithout('write:task_instance');
const HitlFields = {
  options: Type.Array(Type.String()),
  subject: Type.String(masking),
  body: Nullable(Type.String(masking)),
  defaults: Nullable(Type.Array(Type.String())),
  multiple: Type.Boolean(),
  params: Type.Record(Type.String(), Type.Unknown(), masking),
  assigned_users: Type.Array(HitlUser),
  created_at: DateTime,
  responded_by_user: Nullable(HitlUser),
  responded_at: Nullable(DateTime),
  chosen_options: Nullable(Type.Array(Type.String())),
  params_input: Type.Record(Type.String(), Type.Unknown(), masking),
  response_received: Type.Boolean(),
};
export const HitlDetail = Type.Object({ ...HitlFields, task_instance: TaskInstance }, { title: 'HitlDetail' });
const HitlDetailHistory = Type.Object(
  { ...HitlFields, task_instance: TaskInstanceTry },
  { title: 'HitlDetailHistory' },
);
const HitlResponse = Type.Object(
  {
    responded_by: HitlUser,
    responded_at: DateTime,
    chosen_options: Type.Array(Type.String()),
    params_input: Type.Record(Type.String(), Type.Unknown(), masking),
  },
  { title: 'HitlResponse' },
);

const Filters = {
  ...PatternQuery('dag_id'),
  ...PatternQuery('task_id'),
  task_id: Type.Optional(Type.String()),
  map_index: Type.Optional(MapIndex),
  state: Type.Optional(
    Type.Array(
      Type.Enum([...TASK_STATES, 'none'], {
        description:
          'Of the task. A task that waits for an answer is `awaiting_input`, or `deferred` with the web UI of Airflow 3.2; each word finds both',
      }),
    ),
  ),
  response_received: Type.Optional(Type.Boolean()),
  responded_by_user_id: Type.Optional(Type.Array(Type.String())),
  responded_by_user_name: Type.Optional(Type.Array(Type.String())),
  subject_search: Type.Optional(Type.String()),
  body_search: Type.Optional(Type.String()),
  ...rangeProperties({ created_at: DateTime }),
};

const ListQuery = Type.Object({ ...PagingQuery, ...OrderByQuery(Object.keys(ORDER_COLUMNS)), ...Filters });
const HitlAnswer = Type.Object(
  {
    chosen_options: Type.Array(Type.String(), { minItems: 1, maxItems: 1_000 }),
    params_input: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'HitlAnswer' },
);

export function registerHitl(app: App, services: Services): void {
  const { db } = services;
  const summaries = createTaskSummaries();

  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/hitlDetails',
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_hitl_details',
        tags: TAGS,
        summary: 'List questions that tasks ask people; `~` for all DAGs or runs',
        params: RunParams,
        querystring: ListQuery,
        response: { 200: Collection('HitlDetailCollection', 'hitl_details', HitlDetail) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      // A caller who sees these fields masked must not learn them by searching.
      const { subject_search: subject, body_search: body } = request.query;
      if (subject || body) requirePermission(request, 'write:task_instance');
      if (dagId !== ALL && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
      if (dagId !== ALL && runId !== ALL) await existingRunKey(scope, request.params);
      const { questions, total } = await listHitlDetails(scope, {
        ...queryOf(request.query),
        ...(dagId !== ALL && { dagIds: [dagId] }),
        ...(runId !== ALL && { runId }),
      });
      return { hitl_details: await hitlBodies(scope, summaries, questions), total_entries: total };
    },
  );

  const path = `${RUN_PATH}/:task_id/:map_index/hitlDetails`;

  app.get(
    path,
    {
      config: { grows: 'dag', access: 'read:task_instance' },
      schema: {
        operationId: 'get_hitl_detail',
        tags: TAGS,
        summary: 'Get the question of a task instance',
        params: MappedParams,
        response: { 200: HitlDetail },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const question = await currentHitlDetail(scope, request.params);
      const [body] = await hitlBodies(scope, summaries, [question]);
      if (!body) throw noHitlDetail(request.params);
      return body;
    },
  );

  app.get(
    `${path}/tries/:try_number`,
    {
      config: { grows: 'dag', access: 'read:task_instance' },
      schema: {
        operationId: 'get_hitl_detail_try_detail',
        tags: TAGS,
        summary: 'Get the question of one try of a task instance',
        params: Type.Object({
          ...MappedParams.properties,
          try_number: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
        }),
        response: { 200: HitlDetailHistory },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { task_id: taskId, map_index: mapIndex, try_number: tryNumber } = request.params;
      const { id: run } = await existingRunKey(scope, request.params);
      const instance = { run, taskId, mapIndex };
      const question = await findHitlDetail(scope, instance, tryNumber);
      const row = await findTry(scope, instance, tryNumber);
      if (!question || !row) throw noHitlDetail(request.params);
      const [body] = await tryBodies(scope, summaries, [row]);
      if (!body) throw noHitlDetail(request.params);
      return { ...hitlFields(question), task_instance: body };
    },
  );

  app.patch(
    path,
    {
      config: { access: 'write:task_instance', refuses: ['conflict'] },
      schema: {
        operationId: 'update_hitl_detail',
        tags: TAGS,
        summary: 'Answer the question of a task instance',
        params: MappedParams,
        body: HitlAnswer,
        response: { 200: HitlResponse },
      },
    },
    async (request) => {
      const { tenantId, userId, email } = principalOf(request);
      const question = await currentHitlDetail(databaseOf(request, db), request.params);
      const by = { id: userId, name: email };
      const { chosen_options: chosenOptions, params_input: paramsInput = {} } = request.body;
      const answer: Answer = { by, chosenOptions, paramsInput };
      refuseIfWrong(question, answer);
      const result = await db.shared.transaction().execute(async (trx) => {
        const { run, task_id: taskId, map_index: mapIndex, try_number: tryNumber } = question;
        const key = { tenantId, run, taskId, mapIndex, tryNumber };
        const done = await answerAndGoOn(trx, services.scheduler.graphs, { key, answer });
        if (done.kind !== 'answered') return done;
        await recordAudit(scopedToTenant(trx, tenantId), actorOf(request), {
          event: 'update_hitl_detail',
          objectKind: 'task_instance',
          objectId: taskId,
          dagId: question.dag_id,
          runId: request.params.dag_run_id,
          taskId,
          mapIndex,
          detail: { chosen_options: [...chosenOptions] },
        });
        return done;
      });
      if (result.kind === 'too_late') throw alreadyAnswered(question);
      if (result.kind === 'not_waiting') {
        throw new ApiError('conflict', `task ${question.task_id} does not wait for an answer any more`);
      }
      services.scheduler.applyEffects(result.effects);
      return {
        responded_by: by,
        responded_at: result.question.responded_at ?? '',
        chosen_options: result.question.chosen_options ?? [],
        params_input: result.question.params_input,
      };
    },
  );
}

async function currentHitlDetail(scope: TenantDb, params: Static<typeof MappedParams>): Promise<HitlRequest> {
  const {
    run,
    task_id: taskId,
    map_index: mapIndex,
    try_number: tryNumber,
  } = await existingInstance(scope, params, params.map_index);
  const question = await findHitlDetail(scope, { run, taskId, mapIndex }, tryNumber);
  if (!question) throw noHitlDetail(params);
  return question;
}

function refuseIfWrong(question: HitlRequest, answer: Answer): void {
  const { assigned_users: assigned } = question;
  const isAllowed = assigned.some(({ id, name }) =>
    [id, name].some((word) => word === answer.by?.id || word === answer.by?.name),
  );
  if (assigned.length > 0 && !isAllowed) {
    throw new ApiError('permission_denied', 'the question is for others to answer: it names who may');
  }
  if (question.responded_at !== null) throw alreadyAnswered(question);
  const problem = answerProblem(question, answer);
  if (problem !== undefined) throw new ApiError('invalid_request', problem);
}

function queryOf(query: Static<typeof ListQuery>): HitlQuery {
  return {
    limit: query.limit,
    offset: query.offset,
    order: parseOrderBy(query.order_by, ORDER_COLUMNS, [{ column: 'ti_id', direction: 'asc' }]),
    dagIdPatterns: parsePatterns({ pattern: query.dag_id_pattern, prefix: query.dag_id_prefix_pattern }),
    taskIdPatterns: parsePatterns({ pattern: query.task_id_pattern, prefix: query.task_id_prefix_pattern }),
    subjects: parsePatterns({ pattern: query.subject_search }),
    bodies: parsePatterns({ pattern: query.body_search }),
    created: comparisonsOf(query, 'created_at'),
    ...(query.task_id !== undefined && { taskId: query.task_id }),
    ...(query.map_index !== undefined && { mapIndex: query.map_index }),
    ...(query.state && { states: query.state.flatMap(statesOf) }),
    ...(query.response_received !== undefined && { isAnswered: query.response_received }),
    ...(query.responded_by_user_id && { respondedByIds: query.responded_by_user_id }),
    ...(query.responded_by_user_name && { respondedByNames: query.responded_by_user_name }),
  };
}

function statesOf(word: NonNullable<Static<typeof ListQuery>['state']>[number]): readonly TaskStateOrNone[] {
  if (word === 'none') return [null];
  return isParked(word) ? PARKED_STATES : [word];
}

const alreadyAnswered = ({ task_id: taskId }: HitlRequest): ApiError =>
  new ApiError(
    'conflict',
    `Human-in-the-loop detail has already been updated for Task Instance of \`${taskId}\` and is not allowed to write again.`,
  );

const noHitlDetail = ({ task_id: taskId }: { task_id: string }): ApiError =>
  new ApiError('not_found', `Human-in-the-loop detail does not exist for the Task Instance of \`${taskId}\``);
