/** Schemas of DAG runs in requests and answers: the specification's fields and all of Airflow's. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { RUN_ID } from '@svc/spec/ids.ts';
import { RUN_STATES, RUN_TYPES } from '@svc/spec/states.ts';
import type { RunType } from '@svc/spec/states.ts';
import { rangeProperties } from '../../http/ranges.ts';
import { DagVersion } from '../dags/schemas.ts';
import { maskedWithout } from '../../http/masked-fields.ts';
import { DateTime, MAX_LIMIT, Nullable, ShownAs, UncappedTotal } from '../../http/schemas.ts';

export const RUN_TAGS = ['DAG runs'];

export const RunStateWord = Type.Enum([...RUN_STATES]);

/**
 * The specification's word for `asset_triggered`, the only word that Airflow's clients know. It is accepted but never
 * written.
 */
const SAME_AS_ASSET_TRIGGERED = 'dataset_triggered';
/** Airflow 3.3 calls a run of TriggerDagRunOperator so. Such a run is `manual` here, as in Airflow 3.2. */
const BY_OPERATOR = 'operator_triggered';
export const RunTypeWord = Type.Enum([...RUN_TYPES, BY_OPERATOR, SAME_AS_ASSET_TRIGGERED]);
/** Returns undefined for a type that no run has. */
export function runTypeOf(word: Static<typeof RunTypeWord>): RunType | undefined {
  if (word === BY_OPERATOR) return undefined;
  return word === SAME_AS_ASSET_TRIGGERED ? 'asset_triggered' : word;
}

const Conf = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });
const ShownConf = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  ...maskedWithout('write:dag_run'),
});

export const DagRun = Type.Object(
  {
    dag_run_id: Type.String(),
    dag_id: Type.String(),
    dag_display_name: Type.String(),
    logical_date: Nullable(DateTime),
    data_interval_start: Nullable(DateTime),
    data_interval_end: Nullable(DateTime),
    run_after: Type.String({ format: 'date-time', description: 'Not started before this' }),
    queued_at: Nullable(DateTime),
    start_date: Nullable(DateTime),
    end_date: Nullable(DateTime),
    duration: Nullable(Type.Number({ description: 'Seconds; null until the run has ended' })),
    last_scheduling_decision: Nullable(DateTime),
    run_type: Type.Enum([...RUN_TYPES]),
    state: RunStateWord,
    triggered_by: Nullable(Type.String()),
    triggering_user_name: Nullable(Type.String()),
    conf: ShownConf,
    note: Nullable(Type.String(maskedWithout('write:dag_run'))),
    dag_versions: Type.Array(DagVersion),
    bundle_version: Nullable(Type.String()),
    partition_key: Nullable(Type.String()),
    partition_date: Nullable(
      Type.String({ format: 'date-time', description: 'The date of its partition. Null when its key is no date' }),
    ),
  },
  { title: 'DAGRun' },
);
export type DagRunBody = Static<typeof DagRun>;

export const DagRunCollection = Type.Object(
  {
    dag_runs: Type.Array(DagRun),
    total_entries: Nullable(Type.Integer({ description: 'Null in pages asked for with a cursor' })),
    total_entries_limit: UncappedTotal,
    next_cursor: Nullable(Type.String()),
    previous_cursor: Nullable(Type.String()),
  },
  { title: 'DAGRunCollection' },
);

/** Sort keys of lists. */
export const RUN_SORT_KEYS = [
  'id',
  'state',
  'dag_id',
  'run_id',
  'dag_run_id',
  'logical_date',
  'run_after',
  'start_date',
  'end_date',
  'updated_at',
  'conf',
  'duration',
] as const;

/** Fields with range filters. */
const Ranged = {
  run_after: DateTime,
  logical_date: DateTime,
  start_date: DateTime,
  end_date: DateTime,
  updated_at: DateTime,
  duration: Type.Number({ minimum: 0, maximum: 1e12, description: 'Seconds' }),
};
export const RangeQuery = rangeProperties({ ...Ranged, partition_date: DateTime });
/** The same ranges in a body, where null means that the filter is absent. */
const RangeBody = rangeProperties({
  run_after: Nullable(Ranged.run_after),
  logical_date: Nullable(Ranged.logical_date),
  start_date: Nullable(Ranged.start_date),
  end_date: Nullable(Ranged.end_date),
  updated_at: Nullable(Ranged.updated_at),
  duration: Nullable(Ranged.duration),
});

export const DagRunsBatch = Type.Object(
  {
    order_by: Type.Optional(Nullable(Type.Enum(RUN_SORT_KEYS.flatMap((key) => [key, `-${key}`])))),
    page_offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
    page_limit: Type.Integer({ minimum: 0, maximum: MAX_LIMIT, default: 100 }),
    dag_ids: Type.Optional(Nullable(Type.Array(Type.String(), { maxItems: 1_000 }))),
    states: Type.Optional(Nullable(Type.Array(RunStateWord, { maxItems: 100 }))),
    ...RangeBody,
    conf_contains: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  },
  { title: 'DAGRunsBatch', additionalProperties: false },
);

const Note = Type.String({ maxLength: 1_000 });

export const DagRunCreate = Type.Object(
  {
    dag_run_id: Type.Optional(
      ShownAs(Nullable(Type.String()), {
        type: ['string', 'null'],
        pattern: RUN_ID.source,
        description: 'Letters, digits and `_.~:+-`, not as runs of other types begin; default: `manual__` and the time',
      }),
    ),
    logical_date: Type.Optional(
      Nullable(Type.String({ format: 'date-time', description: 'With its time zone; default: now' })),
    ),
    data_interval_start: Type.Optional(Nullable(DateTime)),
    data_interval_end: Type.Optional(Nullable(DateTime)),
    run_after: Type.Optional(Nullable(Type.String({ format: 'date-time', description: 'Default: now' }))),
    conf: Type.Optional(Nullable(Conf)),
    note: Type.Optional(Nullable(Note)),
    partition_key: Type.Optional(Nullable(Type.String({ maxLength: 250 }))),
  },
  { title: 'DAGRunCreate', additionalProperties: false },
);

const changeFields = {
  state: Type.Optional(Nullable(Type.Enum(['queued', 'success', 'failed']))),
  note: Type.Optional(Nullable(Note)),
};

/** A run in a list of runs to change. */
export const BulkDagRun = Type.Object(
  {
    dag_run_id: Type.String(),
    dag_id: Type.Optional(Nullable(Type.String({ description: 'Default: that of the path' }))),
    ...changeFields,
  },
  { title: 'BulkDAGRun', additionalProperties: false },
);

export const DagRunUpdate = Type.Object(changeFields, { title: 'DAGRunUpdate', additionalProperties: false });

/** Chooses runs by their partitions. */
const partitionFields = {
  partition_key: Type.Optional(Nullable(Type.String({ maxLength: 250, description: 'The runs of this partition' }))),
  partition_date_start: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'The runs of partitions from this date on' })),
  ),
  partition_date_end: Type.Optional(
    Nullable(Type.String({ format: 'date-time', description: 'The runs of partitions up to this date, included' })),
  ),
};

const clearFields = {
  dry_run: Type.Boolean({ default: true, description: 'Only say which task instances would be cleared' }),
  only_failed: Type.Boolean({ default: false, description: 'Only those that failed or could not run for it' }),
  only_new: Type.Boolean({
    default: false,
    description: 'Only tasks that the newest version has and the run has not',
  }),
  run_on_latest_version: Type.Optional(
    Nullable(
      Type.Boolean({
        description: 'Re-bind the run to the newest version. Default, and with null: as the DAG says, else false',
      }),
    ),
  ),
  note: Type.Optional(Nullable(Note)),
};

export const DagRunClear = Type.Object(clearFields, { title: 'DAGRunClear', additionalProperties: false });

/** Runs by name, or all runs of one partition or of the partitions between two dates. */
export const BulkDagRunClear = Type.Object(
  {
    ...clearFields,
    dag_runs: Type.Optional(Type.Array(BulkDagRun, { maxItems: 1_000, description: 'Only their names count' })),
    ...partitionFields,
  },
  { title: 'BulkDAGRunClear', additionalProperties: false },
);

export const ClearPartitions = Type.Object(
  {
    ...partitionFields,
    run_id: Type.Optional(Nullable(Type.String({ description: 'This run' }))),
    clear_task_instances: Type.Boolean({ default: false, description: 'Clear the task instances of the runs, too' }),
    dry_run: Type.Boolean({ default: true, description: 'Only count' }),
  },
  { title: 'ClearPartitions', additionalProperties: false },
);

export const ClearedPartitions = Type.Object(
  { dag_runs_cleared: Type.Integer(), task_instances_cleared: Type.Integer(), dry_run: Type.Boolean() },
  { title: 'ClearedPartitions' },
);
