/**
 * The columns of `task_instances`, each once: its SQL type, and which of the engine's statements write it. Lists of
 * columns and row types are derived from this table. The code does not compile if a column of the schema is missing
 * here.
 *
 *   key      identifies the row
 *   insert   set for a new instance
 *   update   changed when its run advances
 *   clear    set again when it is cleared
 *
 * The columns have the order in which statements list them.
 */
import type { InstanceRow } from '../../db/schema.ts';
import { columnSet } from './column-set.ts';
import type { Column, SqlType } from './column-set.ts';

type Use = 'key' | 'insert' | 'update' | 'clear';

export const INSTANCE_COLUMNS = {
  tenant_id: ['uuid', 'key'],
  run: ['bigint', 'key'],
  task_id: ['text', 'key'],
  map_index: ['int', 'key'],
  id: ['uuid'], // created by the database, and again by a clear
  dag_id: ['text', 'insert'],
  state: ['text', 'insert', 'update'],
  try_number: ['int', 'insert', 'update', 'clear'],
  max_tries: ['int', 'insert', 'update', 'clear'],
  infrastructure_retries: ['int', 'update', 'clear'],
  group_retries: ['int', 'insert', 'update', 'clear'],
  attempt_id: ['uuid', 'update'],
  given_by: ['uuid'], // set by the claim of a hand-over
  claimable: ['boolean', 'insert', 'update'],
  waits: ['text', 'insert', 'update'],
  operator: ['text', 'insert', 'clear'],
  operator_class: ['text', 'insert', 'clear'],
  pool: ['text', 'insert', 'clear'],
  pool_slots: ['int', 'insert', 'clear'],
  priority_weight: ['bigint', 'insert', 'clear'],
  queue: ['text', 'insert', 'clear'],
  executor: ['text', 'insert', 'clear'],
  max_active_tis_per_dag: ['int', 'insert', 'clear'],
  upstream: ['text', 'insert', 'update'],
  skips: ['text', 'update'],
  scheduled_at: ['timestamptz', 'insert', 'update'],
  queued_at: ['timestamptz', 'update'],
  start_date: ['timestamptz', 'insert', 'update'],
  end_date: ['timestamptz', 'insert', 'update'],
  duration: ['double precision'], // computed by the database
  due_at: ['timestamptz', 'update'],
  first_poke_at: ['timestamptz', 'update'],
  heartbeat_at: ['timestamptz', 'update'],
  hostname: ['text'], // set by the start of an attempt
  failure_reason: ['text', 'insert', 'update'],
  failure_detail: ['text', 'insert', 'update'],
  note: ['text'], // set by people
  note_user: ['text'],
  rendered_map_index: ['text', 'update'],
  version_number: ['int', 'insert', 'update', 'clear'],
  pid: ['int', 'update'],
  updated_at: ['timestamptz'], // set by every update, from the clock of the database
  usage: ['text', 'update'],
  waiting_since: ['timestamptz'], // set by a trigger of the database
} as const satisfies Record<keyof InstanceRow, readonly [SqlType, ...Use[]]>;

type InstanceColumns = typeof INSTANCE_COLUMNS;

/** The names of the columns with one of these uses. */
type UsedFor<Uses extends Use> = {
  [Name in keyof InstanceColumns]: Extract<InstanceColumns[Name][number], Uses> extends never ? never : Name;
}[keyof InstanceColumns];

/** The columns that an insert must set. */
export type NewInstance = Pick<InstanceRow, UsedFor<'key' | 'insert'>>;
/** The columns that a clear must set. */
export type ClearedInstance = Pick<InstanceRow, UsedFor<'key' | 'clear'>>;

function columnsFor<Row extends Partial<InstanceRow>>(use: Use): Column<InstanceRow, Row>[] {
  const names = Object.keys(INSTANCE_COLUMNS) as (keyof InstanceRow)[];
  return names
    .filter((name) => (INSTANCE_COLUMNS[name] as readonly string[]).includes(use))
    .map((name) => ({ name, type: INSTANCE_COLUMNS[name][0], value: (row) => row[name] }));
}

export const NEW_INSTANCES = columnSet<InstanceRow, NewInstance>({
  key: columnsFor('key'),
  values: columnsFor('insert'),
});
/** A new instance that is claimed with its run. */
export type QueuedInstance = { instance: NewInstance; attemptId: string };
const ofQueued = (use: Use): Column<InstanceRow, QueuedInstance>[] =>
  columnsFor<NewInstance>(use).map(({ value, ...column }) => ({ ...column, value: ({ instance }) => value(instance) }));
export const QUEUED_INSTANCES = columnSet<InstanceRow, QueuedInstance>({
  key: ofQueued('key'),
  values: [...ofQueued('insert'), { name: 'attempt_id', type: 'uuid', value: ({ attemptId }) => attemptId }],
});
/** A new instance that is started with its run. Its times come from the clock of the database. */
export type StartedInstance = QueuedInstance & { hostname: string };
export const STARTED_INSTANCES = columnSet<InstanceRow, StartedInstance>({
  key: ofQueued('key'),
  values: [
    ...ofQueued('insert').filter(({ name }) => name !== 'start_date'),
    { name: 'attempt_id', type: 'uuid', value: ({ attemptId }) => attemptId },
    { name: 'hostname', type: 'text', value: ({ hostname }) => hostname },
  ],
});
/** A row that planning has just scheduled and that a worker continues with. One change writes it as running. */
export type PlannedStart = { row: InstanceRow; attemptId: string; givenBy: string; hostname: string };

const startedColumns = ({ row, attemptId }: PlannedStart): InstanceRow => ({
  ...row,
  state: 'running',
  attempt_id: attemptId,
  try_number: row.try_number + 1,
  claimable: false,
  waits: null,
  end_date: null,
  due_at: null,
  failure_reason: null,
  failure_detail: null,
  pid: null,
});

/** Changes, and starts among them. Starts have a `given_by`, and their times come from the clock of the database. */
export const CHANGES_AND_STARTS = columnSet<InstanceRow, { row: InstanceRow; start?: PlannedStart }>({
  key: onRow('key'),
  values: [
    ...onRow('update'),
    { name: 'given_by', type: 'uuid', value: ({ start }) => start?.givenBy ?? null },
    { name: 'hostname', type: 'text', value: ({ start }) => start?.hostname ?? null },
  ],
  as: {
    given_by: 'coalesce(k.given_by, t.given_by)',
    hostname: 'coalesce(k.hostname, t.hostname)',
    queued_at: 'case when k.given_by is null then k.queued_at else greatest(clock_timestamp(), k.scheduled_at) end',
    start_date: 'case when k.given_by is null then k.start_date else greatest(clock_timestamp(), k.scheduled_at) end',
    heartbeat_at: 'case when k.given_by is null then k.heartbeat_at else clock_timestamp() end',
  },
});
export const withStart = (start: PlannedStart): { row: InstanceRow; start: PlannedStart } => ({
  row: startedColumns(start),
  start,
});

function onRow(use: Use): Column<InstanceRow, { row: InstanceRow }>[] {
  return columnsFor<InstanceRow>(use).map(({ value, ...column }) => ({ ...column, value: ({ row }) => value(row) }));
}

export const CHANGED_INSTANCES = columnSet<InstanceRow, InstanceRow>({
  key: columnsFor('key'),
  values: columnsFor('update'),
});
export const CLEARED_INSTANCES = columnSet<InstanceRow, ClearedInstance>({
  key: columnsFor('key'),
  values: columnsFor('clear'),
});
