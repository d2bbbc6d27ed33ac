/**
 * What planning works on. Planning has no I/O: it sees the rows the driver has loaded, and when it needs one that is not
 * there it says so (`needs`), the driver loads it and asks again. So a plan costs what it touches, whatever the run's size.
 */
import type { TaskState, TaskStateOrNone } from '@svc/spec/states.ts';

/** How far the direct upstream instances of one instance are. Kept with the instance, so that nothing is counted again. */
export type UpstreamCounts = {
  /** Upstream instances this one waits for; a task that is not expanded yet counts as one. */
  total: number;
  success: number;
  skipped: number;
  failed: number;
  upstreamFailed: number;
  removed: number;
  /** Of the above, those of setup tasks. */
  setupTotal: number;
  setupSuccess: number;
  setupFailed: number;
  setupSkipped: number;
  /** Upstream instances that chose to skip this one (branch, short circuit): more than none, and it is skipped. */
  excluded: number;
};

export type InstanceKey = { taskId: string; mapIndex: number };

export type Instance = InstanceKey & {
  state: TaskStateOrNone;
  upstream: UpstreamCounts;
  /** Task ids this instance chose to skip when it finished; null when it made no choice. */
  skips: readonly string[] | null;
};

/** What came of expanding over an upstream value. */
export type MappedLength =
  | { kind: 'known'; length: number }
  /** The value is missing or is neither a list nor a dict. */
  | { kind: 'unusable'; reason: string };

export type Need =
  | { kind: 'instance'; taskId: string; mapIndex: number }
  /** Every instance of the task. */
  | { kind: 'task'; taskId: string }
  /**
   * How many items the value has that the instance pushed under the key; map index null: how many instances of the
   * (mapped) task have pushed one.
   */
  | { kind: 'length'; taskId: string; key: string; mapIndex: number | null }
  /** Is the instance's past (depends_on_past, wait_for_downstream) behind it? */
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
  /** The view shows the instance in its finished state; its children have not been told yet. */
  | { kind: 'finished'; taskId: string; mapIndex: number }
  /** Something outside the run may have changed for the instance (its past, a clear, a retry that is due). */
  | { kind: 'check'; taskId: string; mapIndex: number };

export type Change =
  | {
      kind: 'update';
      taskId: string;
      mapIndex: number;
      /** Left out: unchanged. */
      state?: TaskState;
      upstream?: UpstreamCounts;
      /** Why it stays without a state although its upstream is through; null takes an earlier reason away. */
      waits?: 'past' | null;
      /** With a state that ends it: what the scheduler ended it for. */
      failure?: { cause: 'expansion_failed' | 'fail_fast'; text: string };
    }
  /**
   * The instance at map_index -1 becomes instance 0 and `length - 1` more are made, each with the given counts and state.
   * Length 0 is an update to `skipped` instead.
   */
  | { kind: 'expand'; taskId: string; length: number; instances: readonly ExpandedInstance[] }
  /** More instances of a task that is expanded already: it was cleared, and its input now has more items. */
  | { kind: 'extend'; taskId: string; instances: readonly ExpandedInstance[] };

export type ExpandedInstance = Omit<Instance, 'taskId' | 'skips'> & { waits?: 'past' };

export type Plan =
  | { kind: 'incomplete'; needs: readonly Need[] }
  | {
      kind: 'complete';
      changes: readonly Change[];
      /** A failure ends the run (`fail_fast`): what waits is skipped by the changes, what runs is to be stopped. */
      failFast: boolean;
    };
