/**
 * A list of task instances in the order of a column, as consecutive ranges ("stretches"). An index gives each range in
 * order: a state, the instances with or without a start, those of mapped tasks or the others. A page is read from the
 * range in which it begins until it is full, so only its own rows are sorted.
 *
 *   state               one per state: unsuccessful by task_instances_by_state, live ones by theirs, the rest by key
 *   start, end, duration  with (task_instances_newest, _by_end, _by_duration) and without
 *   map index           -1 by key, the others by task_instances_mapped
 *   rendered map index  with (task_instances_rendered), and without: those by map index
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { TASK_STATES, isFinished } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from '../database.ts';
import type { Cursor, CursorValue, SortKey } from '../keyset.ts';
import { hasWaitingInFinishedRuns } from './counts.ts';
import { hasUnusualOnly, isDated } from './filters.ts';
import type { InstanceFilter } from './filters.ts';
import { SORTABLE } from './orders.ts';
import { FINISHED as FINISHED_SET, OPEN_RUN } from '../state-sets.ts';

export type Stretch = {
  filter: InstanceFilter;
  /** The sort keys, without those that are equal for all instances of the range. */
  keys: readonly SortKey[];
  from: Cursor | undefined;
  backward: boolean;
  /** True when an index of finished instances covers it, without the unfinished ones. */
  inTwo: boolean;
};

type Cut = { filter: InstanceFilter; keys: readonly SortKey[]; alike: CursorValue[]; holds(values: Values): boolean };
type Values = readonly CursorValue[];

export async function stretchesOf(
  db: TenantDb,
  query: { filter: InstanceFilter; keys: readonly SortKey[]; from?: Cursor },
): Promise<Stretch[]> {
  const { filter, keys, from } = query;
  const backward = from?.backward ?? false;
  const whole: Cut = { filter, keys, alike: [], holds: () => true };
  // The instances of one run are few enough to be sorted.
  const cuts = filter.run === undefined ? await cut(db, whole) : [whole];
  const inOrder = backward ? cuts.toReversed() : cuts;
  const first = from ? inOrder.findIndex(({ holds }) => holds(from.values)) : 0;
  return inOrder.slice(Math.max(first, 0)).map((part, index) => ({
    filter: part.filter,
    keys: part.keys,
    from: from && index === 0 ? { ...from, values: from.values.slice(part.alike.length) } : undefined,
    backward,
    inTwo: isInTwo(part),
  }));
}

const isKey = (key: SortKey | undefined, column: keyof typeof SORTABLE): boolean =>
  key !== undefined && key.expression === SORTABLE[column][0]?.expression;

const DATED = ['start_date', 'end_date', 'duration', 'logical_date'] as const;

async function cut(db: TenantDb, part: Cut): Promise<Cut[]> {
  const { filter, alike } = part;
  const [first, ...others] = part.keys;
  if (!first) return [part];
  const up = first.direction === 'asc';
  const having = (more: InstanceFilter, holds: (value: CursorValue) => boolean, value?: CursorValue): Cut => ({
    filter: { ...filter, ...more },
    keys: value === undefined ? [{ ...first, nullable: false }, ...others] : others,
    alike: value === undefined ? alike : [...alike, value],
    holds: (values) => part.holds(values) && holds(values[alike.length] ?? null),
  });

  if (isKey(first, 'state')) {
    const states = await inTextOrder(db, filter.states ?? [...TASK_STATES, null], up);
    return states.map((state) => having({ states: [state] }, (value) => value === state, state));
  }
  const dated = DATED.find((column) => isKey(first, column));
  if (dated) {
    return [
      having({ has: dated }, (value) => value !== null),
      having({ lacks: dated }, (value) => value === null, null),
    ];
  }
  if (isKey(first, 'rendered_map_index')) {
    const [named, unnamed] = [
      having({ has: 'rendered_map_index' }, (value) => value !== null),
      having({ lacks: 'rendered_map_index' }, (value) => value === null, null),
    ];
    return [named, ...(await cut(db, unnamed))];
  }
  if (isKey(first, 'map_index') && filter.mapIndexes === undefined && !filter.isExpanded) {
    const cuts = [
      having({ mapIndexes: [-1] }, (value) => value === -1, -1),
      having({ isExpanded: true }, (value) => value !== -1),
    ];
    return up ? cuts : cuts.toReversed();
  }
  return [part];
}

/** In the database's text order; null is last. */
async function inTextOrder(db: TenantDb, states: readonly TaskStateOrNone[], up: boolean): Promise<TaskStateOrNone[]> {
  const named = states.filter((state) => state !== null);
  const { rows } = await sql<{ state: TaskStateOrNone }>`
    select s as state from unnest(${named}::text[]) as s order by s ${sql.raw(up ? 'asc' : 'desc')}`.execute(db);
  return [...rows.map((row) => row.state), ...(states.includes(null) ? [null] : [])];
}

/** True for lists that use task_instances_of_pool, _of_queue, _tried_again, _mapped, _rendered or _undated. */
function isInTwo({ filter }: Cut): boolean {
  const { run, states, has, lacks, isExpanded, mapIndexes } = filter;
  if (run !== undefined || states?.some((state) => !isFinished(state))) return false;
  return (
    hasUnusualOnly(filter) ||
    isDated(lacks) ||
    has === 'rendered_map_index' ||
    isExpanded === true ||
    mapIndexes?.every((index) => index >= 0) === true ||
    (filter.renderedMapIndexPatterns?.length ?? 0) > 0
  );
}

export const FINISHED = sql<boolean>`t.state in ${FINISHED_SET.raw}`;
const UNFINISHED = sql<boolean>`(t.state is null or t.state not in ${FINISHED_SET.raw})`;

/**
 * Returns conditions for the finished instances and for the others. The others are in unfinished runs, unless a person
 * cleared a task and left its run finished. Uses an array, because for a join Postgres would read all runs, with
 * several processes.
 */
export async function finishedAndNot(db: TenantDb, alone = false): Promise<RawBuilder<boolean>[][]> {
  if (await hasWaitingInFinishedRuns(db)) return [[FINISHED], [UNFINISHED]];
  const runs = db
    .selectFrom('dag_runs as l')
    .select('l.id')
    .where(sql<boolean>`l.state in ${OPEN_RUN.raw}`);
  const isOfLive = alone ? sql<boolean>`t.run = any(array(${runs}))` : sql<boolean>`r.state in ${OPEN_RUN.raw}`;
  return [[FINISHED], [UNFINISHED, isOfLive]];
}
