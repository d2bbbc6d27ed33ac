/**
 * The input and output of planning. Planning has no I/O: it sees the rows that the driver has loaded. When it needs
 * another row it returns `needs`; the driver loads them and calls it again. The cost of a plan depends on what it
 * touches, not on the size of the run.
 */
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';

/**
 * The progress of the direct upstream instances of one instance. Stored with the instance, so that nothing is counted
 * again.
 */
export type UpstreamCounts = {
  /** Upstream instances that this one waits for. A task that is not expanded yet counts as one. */
  total: number;
  success: number;
  skipped: number;
  failed: number;
  upstreamFailed: number;
  removed: number;
  /** The numbers `setup…` count only instances of setup tasks, which the numbers above include. */
  setupTotal: number;
  setupSuccess: number;
  setupFailed: number;
  setupSkipped: number;
  /** Upstream instances that chose to skip this one (branch, short circuit). One is enough to skip it. */
  excluded: number;
};

export type InstanceKey = { taskId: string; mapIndex: number };

export type Instance = InstanceKey & {
  state: TaskStateOrNone;
  upstream: UpstreamCounts;
  /** Task ids that this instance chose to skip when it finished. Null when it made no choice. */
  skips: readonly string[] | null;
};

/** The result of expanding over an upstream value. */
export type MappedLength =
  | { kind: 'known'; length: number }
  /** The value is missing or is neither a list nor a dict. */
  | { kind: 'unusable'; reason: string };

export type Need =
  | { kind: 'instance'; taskId: string; mapIndex: number }
  /** Every instance of the task. */
  | { kind: 'task'; taskId: string }
  /**
   * The number of items of the value that the instance pushed under the key. With map index null: the number of
   * instances of the (mapped) task that have pushed one.
   */
  | { kind: 'length'; taskId: string; key: string; mapIndex: number | null }
  /** Whether the past of the instance (depends_on_past, wait_for_downstream) allows it to run. */
  | { kind: 'past'; taskId: string; mapIndex: number };

/** The loaded part of a run. `undefined` means "not loaded"; null means "there is none". */
export type RunView = {
  instance(key: InstanceKey): Instance | null | undefined;
  instances(taskId: string): readonly Instance[] | undefined;
  length(need: { taskId: string; key: string; mapIndex: number | null }): MappedLength | undefined;
  past(key: InstanceKey): boolean | undefined;
};

export type PlanEvent =
  /** The run starts: every instance exists and is loaded. */
  | { kind: 'started' }
  /** The view shows the instance in its finished state. Its children have not counted it yet. */
  | { kind: 'finished'; taskId: string; mapIndex: number }
  /** Something outside the run may have changed for the instance: its past, a clear, a retry that is due. */
  | { kind: 'check'; taskId: string; mapIndex: number };

export type Change =
  | {
      kind: 'update';
      taskId: string;
      mapIndex: number;
      /** Absent: unchanged. */
      state?: TaskState;
      upstream?: UpstreamCounts;
      /** Why it stays without a state although its upstream has ended. Null removes an earlier reason. */
      waits?: 'past' | null;
      /** With a state that ends it: why the scheduler ended it. */
      failure?: { cause: 'expansion_failed' | 'fail_fast'; text: string };
    }
  /**
   * The instance at map_index -1 becomes instance 0, and `length - 1` more are created, each with the given counts and
   * state. Length 0 is an update to `skipped` instead.
   */
  | { kind: 'expand'; taskId: string; length: number; instances: readonly ExpandedInstance[] }
  /** Adds instances to a task that is expanded already: it was cleared, and its input now has more items. */
  | { kind: 'extend'; taskId: string; instances: readonly ExpandedInstance[] };

export type ExpandedInstance = Omit<Instance, 'taskId' | 'skips'> & { waits?: 'past' };

export type Plan =
  | { kind: 'incomplete'; needs: readonly Need[] }
  | {
      kind: 'complete';
      changes: readonly Change[];
      /**
       * True when a failure ends the run (`fail_fast`): the changes skip what waits, and the driver stops what runs.
       */
      failFast: boolean;
    };
