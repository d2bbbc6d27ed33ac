/** The cells of the grid: the state of each task and group of a run, as one line of JSON per run. */
import { LRUCache } from 'lru-cache';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { findRunsById } from '../../db/dag-runs/dag-runs.ts';
import type { TenantDb } from '../../db/database.ts';
import { IMPORTED_VERSION } from '../../db/imports/imported-version.ts';
import { countInstancesByTask } from '../../db/task-instances/counts-by-task.ts';
import type { TaskCount } from '../../db/task-instances/counts-by-task.ts';
import { tasksOfGroup } from '../dags/tasks-of-group.ts';

type Cell = {
  task_id: string;
  task_display_name: string;
  state: TaskStateOrNone;
  child_states: Record<string, number> | null;
  min_start_date: string | null;
  max_end_date: string | null;
  dag_version_number: number | null;
  has_note: boolean;
};

type SpecOf = (versionNumber: number) => Promise<CompiledSpec>;

/** Rows that are read at once. The limit lets the first lines leave before the last run is read. */
const ROWS_AT_ONCE = 10_000;
const RUNS_AT_ONCE = 20;

/**
 * A cache of the lines of finished runs, valid until the run changes. A grid polls every few seconds, and nearly all of
 * its runs have ended.
 */
export type KeptLines = LRUCache<string, string>;
/** In characters, of which most take one byte. */
const KEPT_SIZE = 16 * 2 ** 20;
export const keepLines = (): KeptLines =>
  new LRUCache({ maxSize: KEPT_SIZE, sizeCalculation: (line) => Math.max(1, line.length) });

type Asked = { tenantId: string; dagId: string; runIds: readonly string[]; specOf: SpecOf; kept: KeptLines };

/** Yields lines in the requested order. A run without task instances has no line. */
export async function* readCells(scope: TenantDb, input: Asked): AsyncGenerator<string> {
  const { tenantId, dagId, runIds, kept } = input;
  const found = await findRunsById(scope, dagId, [...new Set(runIds)]);
  // The version of an imported run may change, so its line is not cached.
  const runs = found.map((run) => ({
    ...run,
    key: run.change === null || run.version_number === IMPORTED_VERSION ? null : `${tenantId} ${run.id} ${run.change}`,
  }));
  const lines = new Map(runs.flatMap(({ id, key }) => (key !== null && kept.has(key) ? [[id, kept.get(key)]] : [])));
  const missing = runs.filter(({ id }) => !lines.has(id));
  const outlines = new Map<number, Outline>();
  for (const { version_number: version } of missing) {
    if (!outlines.has(version)) outlines.set(version, outlineOf(await input.specOf(version)));
  }
  const largest = Math.max(1, ...[...outlines.values()].map(({ names }) => names.size));
  const size = Math.min(RUNS_AT_ONCE, Math.max(1, Math.floor(ROWS_AT_ONCE / largest)));
  let read = 0;
  for (const run of runs) {
    if (!lines.has(run.id)) {
      const some = missing.slice(read, read + size);
      read += some.length;
      const isMapped = some.some(({ version_number: version }) => outlines.get(version)?.mapped.size !== 0);
      const byRun = await countInstancesByTask(scope, { tenantId, runs: some.map(({ id }) => id), isMapped });
      for (const { id, run_id: runId, version_number: version, key } of some) {
        const [outline, counted] = [outlines.get(version), byRun.get(id)];
        const cells = outline && counted?.length ? cellsOf(outline, counted) : [];
        const line =
          cells.length === 0 ? '' : `${JSON.stringify({ run_id: runId, dag_id: dagId, task_instances: cells })}\n`;
        lines.set(id, line);
        if (key !== null) kept.set(key, line);
      }
    }
    const line = lines.get(run.id);
    lines.delete(run.id);
    if (line) yield line;
  }
}

/** What the cells of all runs of one version share. */
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

function cellsOf({ names, mapped, groups }: Outline, rows: readonly TaskCount[]): Cell[] {
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

/** The first of these states that occurs is the state of the group. */
const PRECEDENCE: readonly TaskStateOrNone[] = [
  'failed',
  'upstream_failed',
  'up_for_retry',
  'up_for_reschedule',
  'queued',
  'scheduled',
  'deferred',
  'awaiting_input',
  'running',
  'restarting',
  null,
  'success',
  'skipped',
  'removed',
];
const RANKS = new Map(PRECEDENCE.map((state, rank) => [state, rank]));

function cellOf(id: string, name: string, counted: readonly TaskCount[]): Cell {
  const states: Record<string, number> = {};
  const cell: Cell = {
    task_id: id,
    task_display_name: name,
    state: null,
    child_states: states,
    min_start_date: null,
    max_end_date: null,
    dag_version_number: null,
    has_note: false,
  };
  let rank = PRECEDENCE.length;
  for (const { state, count, started, ended, version, has_note: hasNote } of counted) {
    cell.has_note ||= hasNote;
    states[state ?? 'None'] = (states[state ?? 'None'] ?? 0) + count;
    rank = Math.min(rank, RANKS.get(state) ?? rank);
    // Moments are texts of equal length, so they can be compared as texts.
    if (started !== null && (cell.min_start_date ?? started) >= started) cell.min_start_date = started;
    if (ended !== null && (cell.max_end_date ?? ended) <= ended) cell.max_end_date = ended;
    cell.dag_version_number = Math.max(cell.dag_version_number ?? version, version);
  }
  cell.state = PRECEDENCE[rank] ?? null;
  return cell;
}
