/**
 * One run while a transaction changes it: the loaded rows, what planning made of them, and what must be written. It
 * lives within one transaction that holds the lock of the run's row.
 */
import { latest } from '@svc/spec/clock.ts';
import { LIVE_STATES, isFinished } from '@svc/spec/states.ts';
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';
import { NO_FAILURE, failureColumns } from '@svc/spec/failure-causes.ts';
import type { FailureColumns } from '@svc/spec/failure-causes.ts';
import type { CountedState, InstanceRow, RunRow, StateCounts } from '../../db/schema.ts';
import type { NewInstance } from '../sql/instance-columns.ts';
import type { NewStart } from '../sql/triggers.ts';
import type { DagGraph } from '../shared/dag-graphs.ts';
import { operatorColumns } from '../shared/operator-columns.ts';
import { decodeCounts, encodeCounts } from '../plan/encode.ts';
import type { LeafState } from '../plan/outcome.ts';
import type { Change, ExpandedInstance, Instance, InstanceKey, MappedLength, Need, RunView } from '../plan/types.ts';

const LIVE = new Set<TaskStateOrNone>(LIVE_STATES);
const UNFINISHED: readonly CountedState[] = ['none', 'live', 'up_for_retry', 'up_for_reschedule'];

export const countedAs = (state: TaskStateOrNone): CountedState => {
  if (state === null) return 'none';
  return LIVE.has(state) ? 'live' : (state as CountedState);
};

/** The columns of a new instance that planning does not know. */
type FreshInstance = {
  failure: FailureColumns;
  waits: string | null;
  tries?: Tries;
};

type Tries = Pick<InstanceRow, 'try_number' | 'max_tries' | 'group_retries'>;

const keyText = (taskId: string, mapIndex: number): string => `${mapIndex}/${taskId}`;
const lengthText = (need: { taskId: string; key: string; mapIndex: number | null }): string =>
  `${need.mapIndex ?? '*'}/${need.key}/${need.taskId}`;

export class RunWork implements RunView {
  readonly run: RunRow;
  readonly graph: DagGraph;
  readonly counts: StateCounts;
  /** Instances that this transaction creates. They are inserted at the end, in their final state. */
  readonly fresh: NewInstance[] = [];
  readonly expanded: string[] = [];
  /** Instances that wait for a trigger before any of their code runs. */
  readonly starts: NewStart[] = [];
  /** True when the run was queued before this transaction. */
  hasBegun = false;
  /** True when the end of the run is among the changes. */
  hasEnded = false;
  /** Attempts whose reports no longer count. */
  readonly superseded: string[] = [];
  readonly #now: string;
  readonly #rows = new Map<string, InstanceRow>();
  readonly #views = new Map<string, Instance>();
  readonly #changed = new Set<string>();
  readonly #wholeTasks = new Map<string, string[]>();
  readonly #lengths = new Map<string, MappedLength>();
  readonly #pasts = new Map<string, boolean>();
  /** Keys that were looked up and do not exist. */
  readonly #absent = new Set<string>();

  constructor(input: { run: RunRow; graph: DagGraph; now: string }) {
    this.run = input.run;
    this.graph = input.graph;
    this.counts = { ...input.run.state_counts };
    this.#now = input.now;
  }

  get now(): string {
    return this.#now;
  }

  // ── what planning reads ──────────────────────────────────────────────────────────────────────────────────────────

  instance({ taskId, mapIndex }: InstanceKey): Instance | null | undefined {
    const key = keyText(taskId, mapIndex);
    const row = this.#rows.get(key);
    if (!row) return this.#absent.has(key) || this.#wholeTasks.has(taskId) ? null : undefined;
    return this.#viewOf(key, row);
  }

  instances(taskId: string): readonly Instance[] | undefined {
    const keys = this.#wholeTasks.get(taskId) ?? this.#onlyKeyOf(taskId);
    return keys?.map((key) => this.#viewOf(key, this.#rowAt(key)));
  }

  length(need: { taskId: string; key: string; mapIndex: number | null }): MappedLength | undefined {
    return this.#lengths.get(lengthText(need));
  }

  past({ taskId, mapIndex }: InstanceKey): boolean | undefined {
    return this.#pasts.get(keyText(taskId, mapIndex));
  }

  // ── what the driver loads ────────────────────────────────────────────────────────────────────────────────────────

  addRow(row: InstanceRow): void {
    const key = keyText(row.task_id, row.map_index);
    if (!this.#rows.has(key)) this.#rows.set(key, row); // a row that was changed here is newer than the stored one
  }

  /** Notes that these picks are loaded completely: a row that is missing now does not exist. */
  markLoaded(picks: readonly { taskId: string; mapIndex?: number }[]): void {
    const whole = new Set(picks.filter((pick) => pick.mapIndex === undefined).map((pick) => pick.taskId));
    if (whole.size > 0) {
      for (const taskId of whole) this.#wholeTasks.set(taskId, []);
      // Adds only keys of this load. An earlier load has added its own, and an instance that is listed twice would
      // count twice.
      for (const [key, row] of this.#rows) if (whole.has(row.task_id)) this.#wholeTasks.get(row.task_id)?.push(key);
    }
    for (const { taskId, mapIndex } of picks) {
      if (mapIndex === undefined) continue;
      const key = keyText(taskId, mapIndex);
      if (!this.#rows.has(key)) this.#absent.add(key);
    }
  }

  setLength(need: Extract<Need, { kind: 'length' }>, length: MappedLength): void {
    this.#lengths.set(lengthText(need), length);
  }

  setPast(key: InstanceKey, isBehind: boolean): void {
    this.#pasts.set(keyText(key.taskId, key.mapIndex), isBehind);
  }

  row(key: InstanceKey): InstanceRow | undefined {
    return this.#rows.get(keyText(key.taskId, key.mapIndex));
  }

  loadedRows(): IterableIterator<InstanceRow> {
    return this.#rows.values();
  }

  // ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Changes a loaded row. A change of the state also changes the counts of the run. */
  change(row: InstanceRow, values: Partial<InstanceRow>): void {
    const key = keyText(row.task_id, row.map_index);
    if (values.state !== undefined) this.#recount(row.state, values.state);
    const isGoingOn = row.first_poke_at !== null;
    Object.assign(row, values);
    keepOrder(row, { isGoingOn });
    this.#changed.add(key);
    this.#views.delete(key);
  }

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === 'expand') this.#expand(change);
      else if (change.kind === 'extend') this.#addInstances(change.taskId, change.instances);
      else this.#update(change);
    }
  }

  /**
   * Leaves the write of a row that was scheduled here to the statement that starts it. The row counts as live before
   * and after.
   */
  leaveToStart(row: InstanceRow): void {
    this.#changed.delete(keyText(row.task_id, row.map_index));
  }

  changedRows(): InstanceRow[] {
    return [...this.#changed].map((key) => this.#rowAt(key));
  }

  /**
   * Returns the states of these tasks. Returns null when some of their instances are not loaded, or when this
   * transaction creates instances.
   */
  statesOf(taskIds: readonly string[]): LeafState[] | null {
    if (this.fresh.length > 0) return null;
    const states: LeafState[] = [];
    for (const taskId of taskIds) {
      const keys = this.#wholeTasks.get(taskId) ?? this.#onlyKeyOf(taskId);
      if (!keys) return null;
      for (const key of keys) states.push({ taskId, state: this.#rowAt(key).state, count: 1 });
    }
    return states;
  }

  unfinished(): number {
    return UNFINISHED.reduce((sum, state) => sum + (this.counts[state] ?? 0), 0);
  }

  /** Adds a row that does not exist yet, for the start of a run and for expansions. */
  addFresh(instance: Omit<Instance, 'skips'>, beside: FreshInstance = { failure: NO_FAILURE, waits: null }): void {
    const task = this.graph.blueprint.tasks.get(instance.taskId);
    if (!task) throw new Error(`task ${instance.taskId} is not in the graph`);
    const { policy } = task.spec;
    this.counts[countedAs(instance.state)] = (this.counts[countedAs(instance.state)] ?? 0) + 1;
    this.fresh.push({
      tenant_id: this.run.tenant_id,
      run: this.run.id,
      task_id: instance.taskId,
      map_index: instance.mapIndex,
      dag_id: this.run.dag_id,
      try_number: beside.tries?.try_number ?? 0,
      max_tries: beside.tries?.max_tries ?? policy.retries,
      group_retries: beside.tries?.group_retries ?? 0,
      ...operatorColumns(task.spec),
      pool: policy.pool,
      pool_slots: policy.pool_slots,
      priority_weight: task.totalPriorityWeight,
      queue: policy.queue,
      executor: policy.executor,
      max_active_tis_per_dag: policy.max_active_tis_per_dag,
      upstream: encodeCounts(instance.upstream),
      waits: beside.waits,
      ...beside.failure,
      version_number: this.run.version_number,
      ...this.#stamps(instance.state),
    });
  }

  #update(change: Extract<Change, { kind: 'update' }>): void {
    const row = this.row(change);
    if (!row) throw new Error(`instance ${change.taskId}[${change.mapIndex}] was planned but is not loaded`);
    this.change(row, {
      ...(change.upstream && { upstream: encodeCounts(change.upstream) }),
      ...(change.waits !== undefined && { waits: change.waits }),
      ...(change.failure && failureColumns(change.failure.cause, change.failure.text)),
      ...(change.state && this.#stamps(change.state)),
    });
  }

  #expand({ taskId, instances }: Extract<Change, { kind: 'expand' }>): void {
    const original = this.row({ taskId, mapIndex: -1 });
    if (!original) throw new Error(`task ${taskId} was expanded but is not loaded`);
    this.expanded.push(taskId);
    const [first, ...others] = instances;
    if (!first) throw new Error(`task ${taskId} was expanded into nothing`);
    this.#rows.delete(keyText(taskId, -1));
    this.#changed.delete(keyText(taskId, -1));
    this.#views.delete(keyText(taskId, -1));
    this.#absent.add(keyText(taskId, -1));
    original.map_index = 0;
    this.#rows.set(keyText(taskId, 0), original);
    // Instance -1 is gone: a later plan of the same transaction must not look for it.
    if (this.#wholeTasks.has(taskId)) this.#wholeTasks.set(taskId, [keyText(taskId, 0)]);
    this.change(original, {
      upstream: encodeCounts(first.upstream),
      waits: first.waits ?? null,
      ...(first.state === null ? { state: null } : this.#stamps(first.state)),
    });
    // When a task was expanded before and then cleared, its tries continue, because their numbers name history and
    // logs.
    const { try_number, max_tries, group_retries } = original;
    this.#addInstances(taskId, others, { try_number, max_tries, group_retries });
  }

  #addInstances(taskId: string, instances: readonly ExpandedInstance[], tries?: Tries): void {
    for (const { waits, ...instance } of instances) {
      this.addFresh({ taskId, ...instance }, { failure: NO_FAILURE, waits: waits ?? null, ...(tries && { tries }) });
    }
  }

  /** The other columns that follow from a state. A state that planning gives begins and ends at once, or waits. */
  #stamps(
    state: TaskStateOrNone,
  ): Pick<NewInstance, 'state' | 'scheduled_at' | 'start_date' | 'end_date' | 'claimable'> {
    const at = isFinished(state) ? this.#now : null;
    return {
      state,
      scheduled_at: state === 'scheduled' ? this.#now : null,
      start_date: at,
      end_date: at,
      claimable: false, // the admission decides
    };
  }

  #recount(from: TaskStateOrNone, to: TaskState | null): void {
    const [before, after] = [countedAs(from), countedAs(to)];
    this.counts[before] = (this.counts[before] ?? 0) - 1;
    if (this.counts[before] === 0) delete this.counts[before];
    this.counts[after] = (this.counts[after] ?? 0) + 1;
  }

  /** A task that is not mapped has one instance, so one loaded row is all of them. */
  #onlyKeyOf(taskId: string): string[] | undefined {
    const key = keyText(taskId, -1);
    return this.graph.blueprint.tasks.get(taskId)?.isMapped === false && this.#rows.has(key) ? [key] : undefined;
  }

  #viewOf(key: string, row: InstanceRow): Instance {
    const known = this.#views.get(key);
    if (known) return known;
    const view: Instance = {
      taskId: row.task_id,
      mapIndex: row.map_index,
      state: row.state,
      upstream: decodeCounts(row.upstream),
      skips: row.skips === null ? null : (JSON.parse(row.skips) as string[]),
    };
    this.#views.set(key, view);
    return view;
  }

  #rowAt(key: string): InstanceRow {
    const row = this.#rows.get(key);
    if (!row) throw new Error(`row ${key} vanished`);
    return row;
  }
}

/**
 * Keeps the times in order: they come from the database, from this process and from an agent, and their clocks differ.
 * A try that resumes after a deferral is queued again later than it began.
 */
function keepOrder(row: InstanceRow, { isGoingOn }: { isGoingOn: boolean }): void {
  if (row.start_date !== null && !isGoingOn) row.start_date = latest(row.start_date, row.queued_at);
  if (row.end_date !== null) row.end_date = latest(row.end_date, row.start_date);
}
