/** The columns by which lists of task instances can be sorted. */
import { sql } from 'kysely';
import type { Direction, SortKey } from '../keyset.ts';
import { OPERATOR_CLASS } from './filters.ts';
import type { InstanceFilter } from './filters.ts';

type Sortable = Omit<SortKey, 'direction'>;
const sortable = (name: string, type: SortKey['type'], nullable = false): Sortable => ({
  expression: sql.ref(name),
  type,
  nullable,
});

const RUN = sortable('t.run', 'bigint');
const TASK_ID = sortable('t.task_id', 'text');
const MAP_INDEX = sortable('t.map_index', 'bigint');
const RUN_AFTER = sortable('r.run_after', 'timestamptz');

/** The sort columns. `id` is the order in which runs were created, because an id itself has no meaning and no index. */
export const SORTABLE = {
  id: [RUN],
  dag_id: [sortable('r.dag_id', 'text')],
  task_id: [TASK_ID],
  map_index: [MAP_INDEX],
  run_after: [RUN_AFTER],
  logical_date: [sortable('r.logical_date', 'timestamptz', true)],
  data_interval_start: [sortable('r.data_interval_start', 'timestamptz', true)],
  data_interval_end: [sortable('r.data_interval_end', 'timestamptz', true)],
  run_id: [sortable('r.run_id', 'text')],
  state: [sortable('t.state', 'text', true)],
  duration: [sortable('t.duration', 'float8', true)],
  start_date: [sortable('t.start_date', 'timestamptz', true)],
  end_date: [sortable('t.end_date', 'timestamptz', true)],
  updated_at: [sortable('t.updated_at', 'timestamptz')],
  queued_when: [sortable('t.queued_at', 'timestamptz', true)],
  scheduled_when: [sortable('t.scheduled_at', 'timestamptz', true)],
  try_number: [sortable('t.try_number', 'bigint')],
  max_tries: [sortable('t.max_tries', 'bigint')],
  priority_weight: [sortable('t.priority_weight', 'bigint')],
  pool_slots: [sortable('t.pool_slots', 'bigint')],
  pool: [sortable('t.pool', 'text')],
  queue: [sortable('t.queue', 'text')],
  operator: [{ expression: OPERATOR_CLASS, type: 'text', nullable: false }],
  hostname: [sortable('t.hostname', 'text')],
  // Instances without a name are displayed by their number. As numbers, two comes before ten.
  rendered_map_index: [sortable('t.rendered_map_index', 'text', true), MAP_INDEX],
} satisfies Record<string, readonly Sortable[]>;

/** Columns of the run and not of the instance. */
export const OF_RUNS = new Set<unknown>(
  [
    SORTABLE.dag_id,
    SORTABLE.run_after,
    SORTABLE.logical_date,
    SORTABLE.data_interval_start,
    SORTABLE.data_interval_end,
    SORTABLE.run_id,
  ]
    .flat()
    .map((key) => key.expression),
);

export type InstanceColumn = keyof typeof SORTABLE;
export const INSTANCE_COLUMNS = Object.keys(SORTABLE) as readonly InstanceColumn[];
export type InstanceOrder = readonly { column: InstanceColumn; direction: Direction }[];

/** Equal for all instances of one run. Sorting by them would only prevent the use of the primary key. */
const OF_THE_RUN = new Set<InstanceColumn>([
  'dag_id',
  'run_after',
  'logical_date',
  'data_interval_start',
  'data_interval_end',
  'run_id',
]);

/**
 * Appends the key of an instance, so that no two rows are equal. An empty order is the list's default: newest run
 * first.
 */
export function sortKeysOf(order: InstanceOrder, { run, dagIds }: InstanceFilter): SortKey[] {
  const isOneRun = run !== undefined;
  const isOneDag = dagIds?.length === 1;
  const direction = order[0]?.direction ?? 'asc';
  const keys: SortKey[] = [
    ...(order.length > 0 || isOneRun ? [] : [{ ...RUN, direction: 'desc' as const }]),
    ...order.flatMap(({ column, direction: own }) => {
      if (isOneRun && (column === 'id' || OF_THE_RUN.has(column))) return [];
      if (isOneDag && column === 'dag_id') return [];
      return SORTABLE[column].map((key) => ({ ...key, direction: own }));
    }),
    ...(isOneRun ? [] : [{ ...RUN, direction }]),
    ...[TASK_ID, MAP_INDEX].map((key) => ({ ...key, direction })),
  ];
  return keys.filter((key, index) => keys.findIndex((other) => other.expression === key.expression) === index);
}
