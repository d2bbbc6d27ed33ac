/**
 * One run in memory, for `dag.test()`. The planner, the rows and the ends of attempts are those of the scheduler. The
 * tasks run one at a time in the process of the caller, which reports what became of each:
 *
 *   begin  ─▶ the first task
 *   ended  ─▶ what follows from it, the next task
 *   resumed, due ─▶ the instance that waited is scheduled, the next task
 *
 * A recording of a run (recorded-run.ts) starts each task itself, in the order of the recording.
 *
 * The caller waits for a rescheduled sensor and a trigger. A retry is due at once, unless the caller moves its clock.
 */
import { randomUUID } from 'node:crypto';
import { latest, secondsAfter } from '@svc/spec/clock.ts';
import { failureColumns, failureText } from '@svc/spec/failure-causes.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { isFinished, isOccupying } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { itemCount } from '../../xcom/value.ts';
import { acceptOutcomes } from '../advance/accept-outcomes.ts';
import type { Ending } from '../advance/ending.ts';
import { endingOf } from '../advance/event-ending.ts';
import { beginRound } from '../advance/group-retries.ts';
import { RunWork } from '../advance/run-work.ts';
import { buildBlueprint, initialInstances } from '../plan/blueprint.ts';
import { lengthSources } from '../plan/mapped-length.ts';
import { runOutcome } from '../plan/outcome.ts';
import { nextGroupRetry, roundsIn, waitsForItsGroup } from '../plan/retry-scopes.ts';
import type { NextGroupRetry } from '../plan/retry-scopes.ts';
import { plan } from '../plan/plan.ts';
import { tasksWithoutInstances } from '../plan/task-dates.ts';
import type { Instance, InstanceKey, MappedLength, Need, PlanEvent } from '../plan/types.ts';
import type { AttemptOutcome } from '../shared/attempts.ts';
import { RUN, TENANT, graphOf, instanceOf, newInstanceRow, newRunRow } from './new-rows.ts';
import type { NewLocalRun } from './new-rows.ts';

/** `xcoms`: the values that the attempt has pushed, without the values. */
export type LocalOutcome = Omit<AttemptOutcome, 'xcoms'> & {
  xcoms?: readonly { key: string; length: number | null }[];
};

export type NextTask = InstanceKey & {
  tryNumber: number;
  maxTries: number;
  groupRetry: NextGroupRetry | null;
  startDate: string | null;
  firstPokeAt: string | null;
  /** How many instances the task has. Null when it is not mapped. */
  expandedLength: number | null;
  upstreamLengths: Record<string, number>;
  /** True when a later task is expanded over its value. */
  isMappedOver: boolean;
};

export type ShownInstance = InstanceKey & {
  state: InstanceRow['state'];
  tryNumber: number;
  maxTries: number;
  startDate: string | null;
  endDate: string | null;
  failure: string | null;
};

export type Step = {
  state: RunRow['state'];
  startDate: string | null;
  endDate: string | null;
  /** Why the run has ended, when no task decided it. */
  reason: 'all_tasks_deadlocked' | 'timed_out' | null;
  /** Instances that are new or have changed. */
  changed: readonly ShownInstance[];
  /** Tasks whose instance at map index -1 is gone, because they were expanded. */
  expanded: readonly string[];
  /** The instance to run now, which counts as started. */
  next: NextTask | null;
  /** When nothing can run now: the instance that is due first, for its next poke or try. */
  due: (InstanceKey & { at: string }) | null;
};

export type SingleRun = {
  begin(): Step;
  ended(key: InstanceKey, outcome: LocalOutcome): Step;
  /** The trigger of a deferred instance has fired. `event` is JSON. */
  resumed(key: InstanceKey, event: string): Step;
  /** An instance that waits for its time may try again. */
  due(key: InstanceKey): Step;
  /** Starts the instance. Returns false when it may not run now. Only of a recording. */
  start(key: InstanceKey): boolean;
  /** What time alone has caused. */
  look(): Step;
  stateOf(key: InstanceKey): TaskStateOrNone | undefined;
  /** Every instance of the tasks. */
  instancesOf(taskIds: readonly string[]): Instance[];
};

export type RunTime = {
  clock: () => string;
  /** False: a retry is due at once. */
  keepsDelays: boolean;
  /** True: the caller starts the tasks. */
  isRecorded?: boolean;
};

export function createSingleRun(spec: CompiledSpec, given: NewLocalRun, time: RunTime): SingleRun {
  const { clock, keepsDelays, isRecorded = false } = time;
  const blueprint = buildBlueprint(spec);
  const graph = graphOf(spec, blueprint);
  const run = newRunRow(spec, given, clock());
  const rows = new Map<string, Map<number, InstanceRow>>();
  /** Lengths of the pushed values, by task, map index and key. */
  const pushed = new Map<string, Map<number, Map<string, number | null>>>();
  const ready = new Set<InstanceRow>();
  const mappedOver = new Set(
    [...spec.tasks, ...spec.groups].flatMap(({ mapping }) => (mapping === null ? [] : lengthSources(mapping))),
  );

  const rowsOf = (taskId: string): InstanceRow[] => [...(rows.get(taskId)?.values() ?? [])];
  const allRows = (): InstanceRow[] => blueprint.ordered.flatMap(({ taskId }) => rowsOf(taskId));

  function keep(row: InstanceRow): void {
    const known = rows.get(row.task_id);
    if (known) known.set(row.map_index, row);
    else rows.set(row.task_id, new Map([[row.map_index, row]]));
  }

  const open = (): RunWork => new RunWork({ run, graph, now: clock() });

  function load(work: RunWork, picks: readonly { taskId: string; mapIndex?: number }[]): void {
    for (const { taskId, mapIndex } of picks) {
      for (const row of mapIndex === undefined ? rowsOf(taskId) : [rows.get(taskId)?.get(mapIndex)]) {
        if (row) work.addRow(row);
      }
    }
    work.markLoaded(picks);
  }

  function planIn(work: RunWork, events: readonly PlanEvent[]): void {
    if (events.length === 0) return;
    for (;;) {
      const result = plan(blueprint, work, events);
      if (result.kind === 'complete') return work.apply(result.changes);
      for (const need of result.needs) answerNeed(work, need);
    }
  }

  function answerNeed(work: RunWork, need: Need): void {
    if (need.kind === 'length') work.setLength(need, lengthOf(need));
    // As in a first run: there is no past.
    else if (need.kind === 'past') work.setPast(need, true);
    else load(work, [need.kind === 'task' ? { taskId: need.taskId } : need]);
  }

  function lengthOf({ taskId, key, mapIndex }: Extract<Need, { kind: 'length' }>): MappedLength {
    const byIndex = pushed.get(taskId);
    if (mapIndex === null) {
      return { kind: 'known', length: [...(byIndex?.values() ?? [])].filter((values) => values.has(key)).length };
    }
    const length = byIndex?.get(mapIndex)?.get(key);
    if (length === undefined) return { kind: 'unusable', reason: `task ${taskId} pushed no value under ${key}` };
    if (length === null) {
      return { kind: 'unusable', reason: `the value that task ${taskId} pushed is neither a list nor a dict` };
    }
    return { kind: 'known', length };
  }

  function notePushed({ taskId, mapIndex }: InstanceKey, values: NonNullable<LocalOutcome['xcoms']>): void {
    const byIndex = pushed.get(taskId) ?? new Map<number, Map<string, number | null>>();
    pushed.set(taskId, byIndex);
    const byKey = byIndex.get(mapIndex) ?? new Map<string, number | null>();
    byIndex.set(mapIndex, byKey);
    for (const { key, length } of values) byKey.set(key, length);
  }

  function store(work: RunWork): InstanceRow[] {
    run.state_counts = work.counts;
    for (const taskId of work.expanded) rows.get(taskId)?.delete(-1);
    const changed = [...work.changedRows(), ...work.fresh.map((instance) => newInstanceRow(instance, work.now))];
    for (const row of changed) {
      keep(row);
      if (row.state === 'scheduled' && row.waits === null) ready.add(row);
      else ready.delete(row);
    }
    return changed;
  }

  /** Stores what the work has changed, ends the run if nothing is left, and starts the next task. */
  function conclude(work: RunWork): Step {
    const changed = new Set(store(work));
    for (const row of beginRounds()) changed.add(row);
    const expanded = [...work.expanded];
    let reason: Step['reason'] = null;
    if (run.state === 'running' && isOverdue(run, clock())) {
      reason = 'timed_out';
      for (const row of timeOut(open())) changed.add(row);
      end('failed');
    } else if (run.state === 'running' && work.unfinished() === 0) {
      const leaves = blueprint.leaves.flatMap((taskId) =>
        rowsOf(taskId).map(({ state }) => ({ taskId, state, count: 1 })),
      );
      end(runOutcome(blueprint, leaves));
    } else if (run.state === 'running' && isStuck()) {
      reason = 'all_tasks_deadlocked';
      end('failed');
    }
    const next = run.state === 'running' && !isRecorded ? startFirst() : null;
    if (next) changed.add(next);
    return {
      state: run.state,
      startDate: run.start_date,
      endDate: run.end_date,
      reason,
      changed: [...changed].map(shown),
      expanded,
      next: next && nextTask(next),
      due: run.state === 'running' && !next ? firstDue() : null,
    };
  }

  /** Begins retries of groups, as the scheduler does when nothing in them is active any more. */
  function beginRounds(): InstanceRow[] {
    const rounds = run.state === 'running' ? roundsIn(blueprint.retryScopes, rowsOf) : [];
    return rounds.flatMap((round) => {
      const again = open();
      const taskIds = round.scope.taskIds;
      load(
        again,
        taskIds.map((taskId) => ({ taskId })),
      );
      const begun = beginRound(again, round, taskIds.flatMap(rowsOf));
      if (!keepsDelays) for (const row of begun) if (row.state === 'up_for_retry') startAgain(again, row);
      return store(again);
    });
  }

  /** As in the scheduler, a timeout of the run skips what has not ended. */
  function timeOut(work: RunWork): InstanceRow[] {
    load(
      work,
      [...rows.keys()].map((taskId) => ({ taskId })),
    );
    for (const row of work.loadedRows()) {
      if (isFinished(row.state)) continue;
      const end = { state: 'skipped' as const, attempt_id: null, waits: null, due_at: null, end_date: work.now };
      work.change(row, { ...end, start_date: row.start_date ?? work.now, ...failureColumns('run_timed_out') });
    }
    return store(work);
  }

  function end(state: 'success' | 'failed'): void {
    Object.assign(run, { state, end_date: latest(clock(), run.start_date) });
  }

  const isStuck = (): boolean => allRows().every(({ state }) => state === null || isFinished(state));

  /** The order of the scheduler: by priority, then upstream first. */
  function startFirst(): InstanceRow | null {
    let first: InstanceRow | null = null;
    for (const row of ready) if (first === null || comesBefore(row, first)) first = row;
    return first && start(first);
  }

  function start(row: InstanceRow): InstanceRow {
    const work = open();
    work.addRow(row);
    const isResumed = row.first_poke_at !== null;
    work.change(row, {
      state: 'running',
      attempt_id: randomUUID(),
      try_number: row.try_number + (isResumed ? 0 : 1),
      queued_at: work.now,
      start_date: row.start_date ?? work.now,
      end_date: null,
      due_at: null,
      failure_reason: null,
      failure_detail: null,
    });
    store(work);
    return row;
  }

  const orderOf = (row: InstanceRow): number => blueprint.tasks.get(row.task_id)?.order ?? 0;
  const comesBefore = (row: InstanceRow, other: InstanceRow): boolean =>
    (other.priority_weight - row.priority_weight || orderOf(row) - orderOf(other) || row.map_index - other.map_index) <
    0;

  function nextTask(row: InstanceRow): NextTask {
    const task = blueprint.tasks.get(row.task_id);
    const lengthsOf = (task?.upstream ?? []).filter((id) => blueprint.tasks.get(id)?.isMapped);
    return {
      taskId: row.task_id,
      mapIndex: row.map_index,
      tryNumber: row.try_number,
      maxTries: row.max_tries,
      groupRetry: nextGroupRetry(task?.retryScope, row) ?? null,
      startDate: row.start_date,
      firstPokeAt: row.first_poke_at,
      expandedLength: row.map_index >= 0 ? rowsOf(row.task_id).length : null,
      upstreamLengths: Object.fromEntries(lengthsOf.map((id) => [id, countExpanded(rowsOf(id))])),
      isMappedOver: mappedOver.has(row.task_id) && task?.isMapped !== true,
    };
  }

  function firstDue(): Step['due'] {
    const waiting = allRows().flatMap(({ task_id: taskId, map_index: mapIndex, state, due_at: at }) =>
      isWaitingForItsTime(state) && at !== null ? [{ taskId, mapIndex, at }] : [],
    );
    return waiting.sort((one, other) => (one.at < other.at ? -1 : 1))[0] ?? null;
  }

  function accept(work: RunWork, ending: Ending): void {
    load(work, [ending.ref]);
    const { events } = acceptOutcomes(new Map([[RUN, work]]), [ending]);
    planIn(work, events.get(work) ?? []);
    const row = work.row(ending.ref);
    if (row?.state === 'up_for_retry') {
      pushed.get(row.task_id)?.delete(row.map_index); // a new try begins without the values of the try before
      if (!keepsDelays && !waitsForItsGroup(row)) startAgain(work, row);
    }
  }

  const refOf = ({ taskId, mapIndex }: InstanceKey) => ({
    tenantId: TENANT,
    run: RUN,
    taskId,
    mapIndex,
    attemptId: rows.get(taskId)?.get(mapIndex)?.attempt_id ?? '',
  });

  return {
    begin() {
      const work = open();
      work.hasBegun = true;
      run.state = 'running';
      run.start_date = latest(work.now, run.queued_at);
      const timeout = spec.dag.dagrun_timeout;
      run.timeout_at = timeout === null ? null : secondsAfter(work.now, timeout);
      for (const instance of initialInstances(blueprint, tasksWithoutInstances(blueprint, run)))
        work.addFresh(instance);
      store(work);
      const first = open();
      load(
        first,
        blueprint.ordered.map(({ taskId }) => ({ taskId })),
      );
      planIn(first, [{ kind: 'started' }]);
      return withAll(conclude(first), allRows());
    },
    ended(key, outcome) {
      notePushed(key, outcome.xcoms ?? []);
      const work = open();
      const { xcoms: _, ...reported } = outcome;
      accept(work, { ref: refOf(key), outcome: reported });
      return conclude(work);
    },
    resumed(key, event) {
      const work = open();
      load(work, [key]);
      const row = work.row(key);
      if (row?.state !== 'deferred') return conclude(work);
      const outcome = endingOf(event);
      notePushed(
        key,
        (outcome?.xcoms ?? []).map(({ key: name, value }) => ({ key: name, length: itemCount(value) })),
      );
      if (outcome) accept(work, { ref: refOf(key), outcome, byTrigger: true });
      else startAgain(work, row);
      return conclude(work);
    },
    due(key) {
      const work = open();
      load(work, [key]);
      const row = work.row(key);
      if (row && isWaitingForItsTime(row.state)) startAgain(work, row);
      return conclude(work);
    },
    start({ taskId, mapIndex }) {
      const row = rows.get(taskId)?.get(mapIndex);
      return row !== undefined && ready.has(row) && start(row).state === 'running';
    },
    look: () => conclude(open()),
    stateOf: ({ taskId, mapIndex }) => rows.get(taskId)?.get(mapIndex)?.state,
    instancesOf: (taskIds) => taskIds.flatMap((taskId) => rowsOf(taskId).map(instanceOf)),
  };
}

const isWaitingForItsTime = (state: InstanceRow['state']): boolean =>
  state === 'up_for_reschedule' || state === 'up_for_retry';

/** A resumed try keeps its start; a poke and a retry get a new one. */
function startAgain(work: RunWork, row: InstanceRow): void {
  const begins = row.state === 'deferred' ? {} : { start_date: null };
  work.change(row, { ...begins, state: 'scheduled', due_at: null, scheduled_at: work.now, claimable: false });
}

const isOverdue = ({ timeout_at: timeoutAt }: RunRow, now: string): boolean => timeoutAt !== null && timeoutAt <= now;

/** A task that is not expanded yet has no instances. */
const countExpanded = (rows: readonly InstanceRow[]): number => rows.filter((row) => row.map_index >= 0).length;

const withAll = (step: Step, rows: readonly InstanceRow[]): Step => ({ ...step, changed: rows.map(shown) });

const shown = (row: InstanceRow): ShownInstance => ({
  taskId: row.task_id,
  mapIndex: row.map_index,
  state: row.state,
  tryNumber: row.try_number,
  maxTries: row.max_tries,
  startDate: row.start_date,
  endDate: row.end_date,
  failure: isOccupying(row.state) ? null : failureText(row),
});
