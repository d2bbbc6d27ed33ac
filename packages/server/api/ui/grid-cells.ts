/** The cells of the grid: the state of each task and group of a run, one line of JSON per run. */
import { sql } from 'kysely';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import type { TenantDb } from '../../db/database.ts';
import { momentFromPostgres } from '../../db/moment.ts';
import { tasksOfGroup } from './dag-tree.ts';

type Cell = {
  task_id: string;
  task_display_name: string;
  state: TaskStateOrNone;
  child_states: Record<string, number> | null;
  min_start_date: string | null;
  max_end_date: string | null;
  dag_version_number: number | null;
};

/** Instances of one task in one state; of a task that is not mapped, its only one. */
type Counted = {
  task_id: string;
  state: TaskStateOrNone;
  count: number;
  is_mapped: boolean;
  started: string | null;
  ended: string | null;
  version: number;
};

type SpecOf = (versionNumber: number) => Promise<CompiledSpec>;

/** Rows that are read at once: ten runs of a thousand tasks. The first lines must not wait for the last run. */
const ROWS_AT_ONCE = 10_000;
const RUNS_AT_ONCE = 20;

/** In the order asked for; a run without task instances has no line. */
export async function* readCells(
  scope: TenantDb,
  input: { tenantId: string; dagId: string; runIds: readonly string[]; specOf: SpecOf },
): AsyncGenerator<string> {
  const { tenantId, dagId, runIds } = input;
  const runs = await findRuns(scope, dagId, runIds);
  const outlines = new Map<number, Outline>();
  for (const { version_number: version } of runs) {
    if (!outlines.has(version)) outlines.set(version, outlineOf(await input.specOf(version)));
  }
  const largest = Math.max(1, ...[...outlines.values()].map(({ names }) => names.size));
  const size = Math.min(RUNS_AT_ONCE, Math.max(1, Math.floor(ROWS_AT_ONCE / largest)));
  for (let from = 0; from < runs.length; from += size) {
    const some = runs.slice(from, from + size);
    const isMapped = some.some((run) => outlines.get(run.version_number)?.mapped.size !== 0);
    const byRun = await countInstances(scope, { tenantId, runs: some.map((run) => run.id), isMapped });
    for (const run of some) {
      const [outline, counted] = [outlines.get(run.version_number), byRun.get(run.id)];
      if (!outline || !counted?.length) continue;
      yield `${JSON.stringify({ run_id: run.run_id, dag_id: dagId, task_instances: cellsOf(outline, counted) })}\n`;
    }
  }
}

type Run = { id: number; run_id: string; version_number: number };

async function findRuns(scope: TenantDb, dagId: string, runIds: readonly string[]): Promise<Run[]> {
  if (runIds.length === 0) return [];
  const rows = await scope
    .selectFrom('dag_runs')
    .select(['id', 'run_id', 'version_number'])
    .where('dag_id', '=', dagId)
    .where(sql<boolean>`run_id = any(${[...runIds]}::text[])`)
    .execute();
  const byId = new Map(rows.map((row) => [row.run_id, row]));
  return runIds.flatMap((runId) => byId.get(runId) ?? []);
}

/**
 * Plan: per run the instances by primary key, in its order. A task with ten thousand instances is one cell, so where there
 * are mapped tasks the database counts; elsewhere that would be half of its time for nothing.
 *
 * One text per run instead of a row per task: reading rows took more than everything else together. For ten runs of a thousand
 * tasks 30 instead of 76 ms of this process, 22 instead of 48 of Postgres (`npm run bench -- ui --only cells`).
 */
async function countInstances(
  scope: TenantDb,
  { tenantId, runs, isMapped }: { tenantId: string; runs: readonly number[]; isMapped: boolean },
): Promise<Map<number, Counted[]>> {
  const columns = isMapped
    ? sql`task_id, state, count(*) as count, bool_or(map_index >= 0) as is_mapped, min(start_date) as started,
        max(end_date) as ended, max(version_number) as version`
    : sql`task_id, state, 1 as count, map_index >= 0 as is_mapped, start_date as started, end_date as ended,
        version_number as version`;
  const { rows } = await sql<{ run: number; lines: string | null }>`
    select k.run, (
      select string_agg(concat(task_id, E'\\t', state, E'\\t', count, E'\\t', is_mapped, E'\\t', started, E'\\t', ended, E'\\t', version), E'\\n')
      from (
        select ${columns} from task_instances t where t.tenant_id = ${tenantId} and t.run = k.run
        ${isMapped ? sql`group by task_id, state` : sql``} order by task_id
      ) as c
    ) as lines from unnest(${[...runs]}::bigint[]) as k(run)`.execute(scope);
  return new Map(rows.map(({ run, lines }) => [run, lines?.split('\n').map(readLine) ?? []]));
}

/** Ids of tasks have neither tabs nor line ends in them. */
function readLine(line: string): Counted {
  const [taskId = '', state = '', count, isMapped, started = '', ended = '', version] = line.split('\t');
  return {
    task_id: taskId,
    state: state === '' ? null : (state as TaskState),
    count: Number(count),
    is_mapped: isMapped === 't',
    started: started === '' ? null : momentFromPostgres(started),
    ended: ended === '' ? null : momentFromPostgres(ended),
    version: Number(version),
  };
}

/** What the cells of all runs of a version have in common. */
type Outline = {
  names: ReadonlyMap<string, string>;
  mapped: ReadonlySet<string>;
  groups: readonly { id: string; name: string; tasks: readonly string[] }[];
};

function outlineOf(spec: CompiledSpec): Outline {
  const groups = spec.groups.flatMap(({ group_id: id, display_name: name, mapping }) =>
    id === null ? [] : [{ id, name: name ?? id, tasks: tasksOfGroup(spec, id), isMapped: mapping !== null }],
  );
  return {
    names: new Map(spec.tasks.map((task) => [task.task_id, task.display_name])),
    mapped: new Set([
      ...spec.tasks.filter((task) => task.mapping !== null).map((task) => task.task_id),
      ...groups.flatMap(({ tasks, isMapped }) => (isMapped ? tasks : [])),
    ]),
    groups,
  };
}

function cellsOf({ names, mapped, groups }: Outline, rows: readonly Counted[]): Cell[] {
  const byTask = Map.groupBy(rows, (row) => row.task_id);
  const cells = [...byTask].map(([taskId, counted]): Cell => {
    const cell = cellOf(taskId, names.get(taskId) ?? taskId, counted);
    if (!mapped.has(taskId) && !counted.some((row) => row.is_mapped)) cell.child_states = null;
    return cell;
  });
  for (const { id, name, tasks } of groups) {
    const counted = tasks.flatMap((taskId) => byTask.get(taskId) ?? []);
    if (counted.length > 0) cells.push(cellOf(id, name, counted));
  }
  return cells;
}

/** The first of these that occurs is the state of the whole. */
const PRECEDENCE: readonly TaskStateOrNone[] = [
  'failed',
  'upstream_failed',
  'up_for_retry',
  'up_for_reschedule',
  'queued',
  'scheduled',
  'deferred',
  'running',
  'restarting',
  null,
  'success',
  'skipped',
  'removed',
];
const RANKS = new Map(PRECEDENCE.map((state, rank) => [state, rank]));

function cellOf(id: string, name: string, counted: readonly Counted[]): Cell {
  const states: Record<string, number> = {};
  const cell: Cell = {
    task_id: id,
    task_display_name: name,
    state: null,
    child_states: states,
    min_start_date: null,
    max_end_date: null,
    dag_version_number: null,
  };
  let rank = PRECEDENCE.length;
  for (const { state, count, started, ended, version } of counted) {
    states[state ?? 'None'] = (states[state ?? 'None'] ?? 0) + count;
    rank = Math.min(rank, RANKS.get(state) ?? rank);
    // Moments are texts of one length: they compare as they are.
    if (started !== null && (cell.min_start_date ?? started) >= started) cell.min_start_date = started;
    if (ended !== null && (cell.max_end_date ?? ended) <= ended) cell.max_end_date = ended;
    cell.dag_version_number = Math.max(cell.dag_version_number ?? version, version);
  }
  cell.state = PRECEDENCE[rank] ?? null;
  return cell;
}
