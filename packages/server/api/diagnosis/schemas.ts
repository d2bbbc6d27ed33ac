/** The JSON of a diagnosis. packages/server/diagnosis/types.ts says what each field means. */
import { Type } from 'typebox';
import { ADVICE } from '@svc/spec/failure-advice.ts';
import type { AdviceCode } from '@svc/spec/failure-advice.ts';
import { FAILURE_CAUSES } from '@svc/spec/failure-causes.ts';
import type { FailureCause } from '@svc/spec/failure-causes.ts';
import { RUN_STATES, RUN_TYPES, TASK_STATES } from '@svc/spec/states.ts';
import { RUN_WAIT_REASONS, WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { RunWaitReason, WaitReason } from '@svc/spec/wait-reasons.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';

const Text = Type.String();
const NullText = Nullable(Text);
const Moment = Nullable(DateTime);
const Count = Type.Integer({ minimum: 0 });
const MapIndex = Type.Integer({ minimum: -1, description: '-1: not mapped' });
const State = Nullable(Type.Enum([...TASK_STATES]));
const Lines = Type.Array(Text);
const Place = { task_id: Text, map_index: MapIndex };

const VERSION = {
  version_number: Type.Integer(),
  created_at: DateTime,
  bundle_name: Text,
  bundle_version: NullText,
  bundle_url: NullText,
};
const Version = Type.Object(VERSION);
const AuthoredVersion = Type.Object({
  ...VERSION,
  author: Nullable(Type.String({ description: 'The author of the commit, for a version that a bundle deployed' })),
});

const Raised = {
  type: Text,
  message: Text,
  file: NullText,
  line: Nullable(Type.Integer()),
  function: NullText,
  code: NullText,
};

const CauseCode = Type.Enum(Object.keys(FAILURE_CAUSES) as FailureCause[], {
  description: 'One of the codes in docs/failure-causes.md',
});
const ShortCause = { code: CauseCode, meaning: Text, detail: NullText };

const Cause = Type.Object({
  ...ShortCause,
  seen_by: Type.Enum(['task', 'agent', 'control_plane'] as ('task' | 'agent' | 'control_plane')[]),
  is_infrastructure: Type.Boolean(),
  is_timeout: Type.Boolean(),
  is_out_of_memory: Type.Boolean(),
  exit_code: Nullable(Type.Integer()),
  signal: NullText,
  exception: Nullable(Type.Object({ ...Raised, root_cause: Nullable(Type.Object(Raised)) })),
  fingerprint: Type.String({ description: 'Equal for failures with the same cause' }),
});

const FailedTry = Type.Object({
  try_number: Count,
  end_date: Moment,
  cause: Nullable(Type.Object(ShortCause)),
});

const wait = <Code extends string>(codes: Code[]) =>
  Nullable(
    Type.Object({
      code: Type.Enum(codes),
      meaning: Text,
      detail: NullText,
      until: Moment,
      ends_with: Type.String({ description: 'What ends the wait' }),
    }),
  );

const History = Type.Object({
  runs_compared: Count,
  failed_before: Count,
  first_failure: Type.Object({ run_id: Text, run_after: DateTime, version: Nullable(AuthoredVersion) }),
  last_success: Nullable(Type.Object({ run_id: Text, run_after: DateTime, version_number: Type.Integer() })),
  since_version: Nullable(Type.Integer({ description: 'The version since which it fails' })),
  same_cause_in: Type.Array(Text, { description: 'Earlier runs with the same fingerprint' }),
});

const Failure = Type.Object(
  {
    ...Place,
    operator: NullText,
    state: State,
    try_number: Count,
    max_tries: Type.Integer(),
    infrastructure_retries: Type.Integer({ description: 'Tries lost to infrastructure, which used up no retry' }),
    group_retries: Type.Integer({ description: 'Retries of its task group, or of its run, until now' }),
    next_try_at: Moment,
    start_date: Moment,
    end_date: Moment,
    duration: Nullable(Type.Number()),
    hostname: NullText,
    version_number: Type.Integer(),
    cause: Nullable(Cause),
    failed_tries: Type.Array(FailedTry),
    instances: Nullable(Type.Object({ total: Count, failed: Count })),
    rendered_fields: Nullable(Type.String(maskedWithout('write:task_instance'))),
    blocks: Nullable(
      Type.Object({ total: Count, task_ids: Type.Array(Text) }, { description: 'Null: the graph cannot be read' }),
    ),
    upstream: Type.Array(Type.Object({ task_id: Text, state: State, last_lines: Lines })),
    history: Nullable(History),
    advice: Type.Array(Type.Object({ code: Type.Enum(Object.keys(ADVICE) as AdviceCode[]), text: Text })),
    log: Type.Object({ earlier_errors: Lines, lines: Lines, lines_left_out: Count, note: NullText }),
  },
  { title: 'FailureDiagnosis' },
);

const Waiting = Type.Object({
  ...Place,
  state: State,
  wait: wait(Object.keys(WAIT_REASONS) as WaitReason[]),
  trigger: Nullable(Type.Object({ class_path: Text, since: DateTime, triggerer: NullText })),
  last_lines: Lines,
});

const Pools = Type.Array(
  Type.Object({
    name: Text,
    slots: Nullable(Type.Integer({ description: 'Null: there is no such pool' })),
    occupied: Nullable(Type.Integer()),
    held_by: Type.Array(Type.Object({ dag_id: Text, run_id: Text, ...Place, since: Moment })),
    waiting: Type.Array(Type.Object(Place)),
  }),
);

const Models = Type.Array(
  Type.Object({
    name: Text,
    kind: NullText,
    path: NullText,
    seen_in: Type.Enum(['log', 'definition'] as ('log' | 'definition')[]),
    task_ids: Type.Array(Text),
  }),
);

const counts = {
  total: Count,
  failed: Count,
  up_for_retry: Count,
  upstream_failed: Count,
  skipped: Count,
  active: Count,
  waiting: Count,
};

const RUN_WAIT_CODES: RunWaitReason[] = [
  'paused',
  'max_active_runs',
  ...(Object.keys(RUN_WAIT_REASONS) as (keyof typeof RUN_WAIT_REASONS)[]),
];

export const RunDiagnosis = Type.Object(
  {
    dag_id: Text,
    dag_run_id: Text,
    state: Type.Enum([...RUN_STATES]),
    run_type: Type.Enum([...RUN_TYPES]),
    logical_date: Moment,
    run_after: DateTime,
    start_date: Moment,
    end_date: Moment,
    duration: Nullable(Type.Number()),
    dag_versions: Type.Array(Version),
    counts: Type.Object(counts),
    run_wait: wait(RUN_WAIT_CODES),
    failures: Type.Array(Failure, { maxItems: 20 }),
    failures_not_shown: Count,
    waiting: Type.Array(Waiting),
    retried: Type.Array(Type.Object({ ...Place, try_number: Type.Integer(), failed_tries: Type.Array(FailedTry) })),
    skipped: Type.Array(Type.Object({ ...Place, why: Text })),
    pools: Pools,
    models: Models,
    history: Type.Object({
      previous_run: Nullable(
        Type.Object({
          run_id: Text,
          state: Type.Enum([...RUN_STATES]),
          version_number: Type.Integer(),
          run_after: DateTime,
        }),
      ),
      failed_before: Count,
      runs_compared: Count,
      last_success: Nullable(Type.Object({ run_id: Text, run_after: DateTime })),
      version_changed: Type.Boolean(),
      newest_version: Nullable(Type.Integer()),
    }),
  },
  { title: 'RunDiagnosis' },
);

export const TaskInstanceDiagnosis = Type.Object(
  {
    dag_id: Text,
    dag_run_id: Text,
    ...Place,
    try_number: Count,
    state: State,
    failure: Nullable(Failure),
    waiting: Nullable(Waiting),
    pools: Pools,
  },
  { title: 'TaskInstanceDiagnosis' },
);
