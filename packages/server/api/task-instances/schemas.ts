/** Schemas of task instances in requests and answers: the specification's fields and all of Airflow's. */
import { Job } from '../monitor/job-body.ts';
import { Type } from 'typebox';
import { FAILURE_CAUSES } from '@svc/spec/failure-causes.ts';
import { TASK_STATES } from '@svc/spec/states.ts';
import { MARKABLE_STATES } from '@svc/spec/states/transitions.ts';
import type { TaskState } from '@svc/spec/states.ts';
import { DagVersion } from '../dags/schemas.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { DateTime, Nullable, ShownAs, UncappedTotal } from '../../http/schemas.ts';

/** The maximum of a four-byte column. */
export const MAX_INT = 2_147_483_647;
export const MapIndex = Type.Integer({ minimum: -1, maximum: MAX_INT });

const StateWord = Type.Unsafe<TaskState>(Type.Enum([...TASK_STATES]));

/** Fields that the current try and earlier tries share. */
const tryFields = {
  task_id: Type.String(),
  dag_id: Type.String(),
  dag_run_id: Type.String(),
  map_index: Type.Integer({ description: '-1: not mapped, or not expanded yet' }),
  start_date: Nullable(DateTime),
  end_date: Nullable(DateTime),
  duration: Nullable(Type.Number({ description: 'In seconds' })),
  state: Nullable(StateWord),
  try_number: Type.Integer(),
  max_tries: Type.Integer(),
  task_display_name: Type.String(),
  dag_display_name: Type.String(),
  hostname: Nullable(Type.String()),
  unixname: Nullable(Type.String()),
  pool: Type.String(),
  pool_slots: Type.Integer(),
  queue: Nullable(Type.String()),
  priority_weight: Nullable(Type.Integer()),
  operator: Nullable(Type.String({ description: 'The class of the operator' })),
  operator_name: Nullable(Type.String({ description: 'Its shown name: the class, or the decorator' })),
  queued_when: Nullable(DateTime),
  scheduled_when: Nullable(DateTime),
  pid: Nullable(Type.Integer()),
  executor: Nullable(Type.String()),
  executor_config: Type.String(),
  dag_version: Nullable(DagVersion),
  failure_reason: Nullable(
    Type.String({
      description: `Why it failed, as a code and what it means, as whoever saw the cause says; null when nobody did. The codes: ${Object.keys(FAILURE_CAUSES).join(', ')}`,
    }),
  ),
  failure_detail: Nullable(
    Type.String({
      description: 'What is known beside the code, the text of an exception for instance, with credentials masked',
      ...maskedWithout('write:task_instance'),
    }),
  ),
};

const Trigger = Type.Object(
  {
    id: Type.Integer(),
    classpath: Type.String(),
    kwargs: Type.String({ description: 'Not shown: arguments of triggers may hold secrets' }),
    created_date: DateTime,
    queue: Nullable(Type.String()),
    triggerer_id: Nullable(Type.Integer({ description: 'The job that waits for it; null while none does' })),
  },
  { title: 'Trigger' },
);

export const TaskInstance = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    ...tryFields,
    logical_date: Nullable(DateTime),
    run_after: DateTime,
    note: Nullable(Type.String(maskedWithout('write:task_instance'))),
    rendered_map_index: Nullable(Type.String()),
    rendered_fields: Type.Record(Type.String(), Type.Unknown(), maskedWithout('write:task_instance')),
    trigger: Nullable(Trigger),
    triggerer_job: Nullable(Job),
    infrastructure_retries: Type.Integer({
      description: 'Tries that were lost to infrastructure since the last clear: `max_tries` has grown by each of them',
    }),
    group_retries: Type.Integer({
      description: 'Retries of its task group, or of its run, that it has been through since the last clear',
    }),
    wait_reason: Nullable(Type.String({ description: 'What it waits for; null when it does not wait' })),
  },
  { title: 'TaskInstance' },
);

export const TaskInstanceTry = Type.Object(tryFields, { title: 'TaskInstanceHistory' });

export const TaskInstanceCollection = Type.Object(
  {
    task_instances: Type.Array(TaskInstance),
    total_entries: Nullable(Type.Integer({ description: 'How many match in all; null when paging by cursor' })),
    total_entries_limit: UncappedTotal,
    next_cursor: Nullable(Type.String()),
    previous_cursor: Nullable(Type.String()),
  },
  { title: 'TaskInstanceCollection' },
);

export const TaskInstanceTryCollection = Type.Object(
  { task_instances: Type.Array(TaskInstanceTry), total_entries: Type.Integer() },
  { title: 'TaskInstanceHistoryCollection' },
);

export const TaskDependencies = Type.Object(
  {
    dependencies: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'The kind of thing it waits for' }),
          reason: Type.String({ description: 'What exactly' }),
        },
        { title: 'TaskDependency' },
      ),
    ),
  },
  { title: 'TaskDependencyCollection' },
);

export const ExtraLinks = Type.Object(
  { extra_links: Type.Record(Type.String(), Nullable(Type.String())), total_entries: Type.Integer() },
  { title: 'ExtraLinkCollection' },
);

const Relatives = {
  include_upstream: Type.Optional(Type.Boolean({ default: false, description: 'Also every task before it' })),
  include_downstream: Type.Optional(Type.Boolean({ default: false, description: 'Also every task after it' })),
  include_future: Type.Optional(
    Type.Boolean({ default: false, description: 'Also in every run of a later logical date' }),
  ),
  include_past: Type.Optional(
    Type.Boolean({ default: false, description: 'Also in every run of an earlier logical date' }),
  ),
};

const Note = Type.String({ maxLength: 1_000 });

export const patchFields = {
  new_state: Type.Optional(Nullable(Type.Unsafe<TaskState>(Type.Enum([...MARKABLE_STATES])))),
  note: Type.Optional(Nullable(Note)),
  ...Relatives,
};

export const PatchBody = Type.Object(patchFields, { title: 'PatchTaskInstanceBody', additionalProperties: false });

export const ClearBody = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ default: true, description: 'Only say what would be cleared; false does it' }),
    ),
    task_ids: Type.Optional(
      Nullable(
        Type.Array(
          Type.Unsafe<string | [string, number]>(
            Type.Union([
              Type.String(),
              Type.Unsafe<[string, number]>({
                type: 'array',
                items: { type: ['string', 'integer'] },
                minItems: 2,
                maxItems: 2,
              }),
            ]),
          ),
          { minItems: 1, maxItems: 10_000, description: 'Task ids, or pairs of task id and map index. Default: all' },
        ),
      ),
    ),
    dag_run_id: Type.Optional(Nullable(Type.String({ description: 'The run. Default: every run of the DAG' }))),
    start_date: Type.Optional(Nullable(DateTime)),
    end_date: Type.Optional(Nullable(DateTime)),
    only_failed: Type.Optional(
      Type.Boolean({ default: true, description: 'Only what failed, or could not run because of a failure' }),
    ),
    only_running: Type.Optional(
      ShownAs(Type.Boolean({ default: false }), {
        type: 'boolean',
        enum: [false],
        default: false,
        description: 'Not supported: true is refused',
      }),
    ),
    reset_dag_runs: Type.Optional(
      Type.Boolean({ default: true, description: 'Open finished runs again, so that what was cleared runs' }),
    ),
    run_on_latest_version: Type.Optional(
      Nullable(
        Type.Boolean({ description: 'Bind the run to the newest version of the DAG. Default, and with null: false' }),
      ),
    ),
    prevent_running_task: Type.Optional(
      Type.Boolean({ default: false, description: 'Refuse, with 409, when one of them is running' }),
    ),
    note: Type.Optional(Nullable(Note)),
    ...Relatives,
  },
  { title: 'ClearTaskInstancesBody', additionalProperties: false },
);
