/**
 * Questions of tasks to people. The runtime refuses operators that ask (they fail with a message that says so), so no task
 * waits for an answer and the lists are empty because nothing can be in them; one instance has no question.
 */
import { Type } from 'typebox';
import { findDag } from '../db/dags.ts';
import { databaseOf } from './access.ts';
import { ALL } from './dag-run-filters.ts';
import { noSuchDag } from './dags.ts';
import { ApiError } from './errors.ts';
import { PatternQuery } from './patterns.ts';
import { Collection, DateTime, Nullable, OrderByQuery, PagingQuery } from './schemas.ts';
import type { App, Services } from './services.ts';
import { MappedParams, RUN_PATH, RunParams, existingInstance, existingRunKey } from './task-instance-paths.ts';
import { MapIndex, TaskInstance, TaskInstanceTry } from './task-instance-schemas.ts';

const TAGS = ['Human in the loop'];
const ORDER_KEYS = ['ti_id', 'subject', 'responded_at', 'created_at', 'responded_by_user_id', 'responded_by_user_name'];

const HitlUser = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'HitlUser' });
const Question = {
  options: Type.Array(Type.String()),
  subject: Type.String(),
  body: Nullable(Type.String()),
  defaults: Nullable(Type.Array(Type.String())),
  multiple: Type.Boolean(),
  params: Type.Record(Type.String(), Type.Unknown()),
  assigned_users: Type.Array(HitlUser),
  created_at: DateTime,
  responded_by_user: Nullable(HitlUser),
  responded_at: Nullable(DateTime),
  chosen_options: Nullable(Type.Array(Type.String())),
  params_input: Type.Record(Type.String(), Type.Unknown()),
  response_received: Type.Boolean(),
};
const HitlDetail = Type.Object({ ...Question, task_instance: TaskInstance }, { title: 'HitlDetail' });
const HitlDetailHistory = Type.Object({ ...Question, task_instance: TaskInstanceTry }, { title: 'HitlDetailHistory' });
const HitlResponse = Type.Object(
  {
    responded_by: HitlUser,
    responded_at: DateTime,
    chosen_options: Type.Array(Type.String()),
    params_input: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'HitlResponse' },
);

const Filters = {
  ...PatternQuery('dag_id'),
  ...PatternQuery('task_id'),
  task_id: Type.Optional(Type.String()),
  map_index: Type.Optional(MapIndex),
  state: Type.Optional(Type.Array(Type.String())),
  response_received: Type.Optional(Type.Boolean()),
  responded_by_user_id: Type.Optional(Type.Array(Type.String())),
  responded_by_user_name: Type.Optional(Type.Array(Type.String())),
  subject_search: Type.Optional(Type.String()),
  body_search: Type.Optional(Type.String()),
  created_at_gte: Type.Optional(DateTime),
  created_at_gt: Type.Optional(DateTime),
  created_at_lte: Type.Optional(DateTime),
  created_at_lt: Type.Optional(DateTime),
};

export function registerHitl(app: App, { db }: Services): void {
  app.get(
    '/api/v2/dags/:dag_id/dagRuns/:dag_run_id/hitlDetails',
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_hitl_details',
        tags: TAGS,
        summary: 'List questions of tasks to people; `~` for all DAGs or runs',
        params: RunParams,
        querystring: Type.Object({ ...PagingQuery, ...OrderByQuery(ORDER_KEYS), ...Filters }),
        response: { 200: Collection('HitlDetailCollection', 'hitl_details', HitlDetail) },
      },
    },
    async (request) => {
      const scope = databaseOf(request, db);
      const { dag_id: dagId, dag_run_id: runId } = request.params;
      if (dagId !== ALL && !(await findDag(scope, dagId))) throw noSuchDag(dagId);
      if (dagId !== ALL && runId !== ALL) await existingRunKey(scope, request.params);
      return { hitl_details: [], total_entries: 0 };
    },
  );

  const path = `${RUN_PATH}/:task_id/:map_index/hitlDetails`;

  app.get(
    path,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_hitl_detail',
        tags: TAGS,
        summary: 'The question of a task instance',
        params: MappedParams,
        response: { 200: HitlDetail },
      },
    },
    async (request) => {
      throw noQuestion(await existingInstance(databaseOf(request, db), request.params, request.params.map_index));
    },
  );

  app.get(
    `${path}/tries/:try_number`,
    {
      config: { access: 'read:task_instance' },
      schema: {
        operationId: 'get_hitl_detail_try_detail',
        tags: TAGS,
        summary: 'The question of one try of a task instance',
        params: Type.Object({
          ...MappedParams.properties,
          try_number: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
        }),
        response: { 200: HitlDetailHistory },
      },
    },
    async (request) => {
      throw noQuestion(await existingInstance(databaseOf(request, db), request.params, request.params.map_index));
    },
  );

  app.patch(
    path,
    {
      config: { access: 'write:task_instance' },
      schema: {
        operationId: 'update_hitl_detail',
        tags: TAGS,
        summary: 'Answer the question of a task instance',
        params: MappedParams,
        body: Type.Object(
          {
            chosen_options: Type.Array(Type.String(), { minItems: 1 }),
            params_input: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
          },
          { title: 'HitlAnswer' },
        ),
        response: { 200: HitlResponse },
      },
    },
    async (request) => {
      throw noQuestion(await existingInstance(databaseOf(request, db), request.params, request.params.map_index));
    },
  );
}

const noQuestion = ({ task_id: taskId }: { task_id: string }): ApiError =>
  new ApiError('not_found', `Human-in-the-loop detail does not exist for the Task Instance of \`${taskId}\``);
