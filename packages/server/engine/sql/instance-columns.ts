/**
 * The columns of `task_instances`, each once: its SQL type, and which of the engine's statements write it. Lists of columns and
 * the types of rows are made of this table; a column that the schema has and the table has not does not compile.
 *
 *   key      says which row it is
 *   insert   given to a new instance
 *   update   changed when its run goes on
 *   clear    given anew when it is cleared
 *
 * In the order in which statements list them.
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
  id: ['uuid'], // made by the database, and once more by a clear
  dag_id: ['text', 'insert'],
  state: ['text', 'insert', 'update'],
  try_number: ['int', 'insert', 'update', 'clear'],
  max_tries: ['int', 'insert', 'update', 'clear'],
  attempt_id: ['uuid', 'update'],
  given_by: ['uuid'], // by the claim that hands over
  claimable: ['boolean', 'insert', 'update'],
  waits: ['text', 'insert', 'update'],
  operator: ['text', 'insert', 'clear'],
  operator_class: ['text', 'insert', 'clear'],
  pool: ['text', 'insert', 'clear'],
  pool_slots: ['int', 'insert', 'clear'],
  priority_weight: ['bigint', 'insert', 'clear'],
  queue: ['text', 'insert', 'clear'],
  max_active_tis_per_dag: ['int', 'insert', 'clear'],
  upstream: ['text', 'insert', 'update'],
  skips: ['text', 'update'],
  scheduled_at: ['timestamptz', 'insert', 'update'],
  queued_at: ['timestamptz', 'update'],
  start_date: ['timestamptz', 'insert', 'update'],
  end_date: ['timestamptz', 'insert', 'update'],
  duration: ['double precision'], // worked out by the database
  due_at: ['timestamptz', 'update'],
  first_poke_at: ['timestamptz', 'update'],
  heartbeat_at: ['timestamptz', 'update'],
  hostname: ['text'], // by the start of an attempt
  failure_reason: ['text', 'insert', 'update'],
  failure_detail: ['text', 'insert', 'update'],
  note: ['text'], // by people
  note_user: ['text'],
  rendered_map_index: ['text', 'update'],
  version_number: ['int', 'insert', 'update', 'clear'],
  pid: ['int', 'update'],
  updated_at: ['timestamptz'], // by every update, from the clock of the database
} as const satisfies Record<keyof InstanceRow, readonly [SqlType, ...Use[]]>;

type InstanceColumns = typeof INSTANCE_COLUMNS;

/** The names of the columns with one of these uses. */
type UsedFor<Uses extends Use> = {
  [Name in keyof InstanceColumns]: Extract<InstanceColumns[Name][number], Uses> extends never ? never : Name;
}[keyof InstanceColumns];

/** What an insert must say about an instance. */
export type NewInstance = Pick<InstanceRow, UsedFor<'key' | 'insert'>>;
/** What a clear must say. */
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
export const CHANGED_INSTANCES = columnSet<InstanceRow, InstanceRow>({
  key: columnsFor('key'),
  values: columnsFor('update'),
});
export const CLEARED_INSTANCES = columnSet<InstanceRow, ClearedInstance>({
  key: columnsFor('key'),
  values: columnsFor('clear'),
});
