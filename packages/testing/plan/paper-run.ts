/**
 * A run on paper: plays the driver's part for the planner, with rows in memory instead of a database. Nothing is loaded
 * until the planner asks for it, so what it reads is known; every change is checked against the table of transitions.
 */
import { isFinished, type TaskState, type TaskStateOrNone } from '@svc/spec/states.ts';
import { mayTransition } from '@svc/spec/states/transitions.ts';
import { initialInstances, type Blueprint } from '@svc/server/engine/plan/blueprint.ts';
import { plan } from '@svc/server/engine/plan/plan.ts';
import type {
  Change,
  Instance,
  InstanceKey,
  MappedLength,
  Need,
  PlanEvent,
  RunView,
} from '@svc/server/engine/plan/types.ts';

interface World {
  /** What `taskId` delivered; a missing entry is a value that is not there. */
  readonly lengths?: Readonly<Record<string, number>>;
  readonly past?: (key: InstanceKey) => boolean;
}

const MAX_ROUNDS = 1_000;

export const nameOf = ({ taskId, mapIndex }: InstanceKey): string =>
  mapIndex === -1 ? taskId : `${taskId}[${mapIndex}]`;

export class PaperRun {
  readonly rows = new Map<string, Instance>();
  /** Why instances wait, by name. */
  readonly waits = new Map<string, 'past'>();
  readonly failures = new Map<string, string>();
  /** What the last step asked for. */
  asked: Need[] = [];
  failFast = false;
  readonly #blueprint: Blueprint;
  readonly #world: World;

  constructor(blueprint: Blueprint, world: World = {}) {
    this.#blueprint = blueprint;
    this.#world = world;
    for (const instance of initialInstances(blueprint)) this.rows.set(nameOf(instance), instance);
  }

  start(): Change[] {
    return this.step([{ kind: 'started' }], { everythingLoaded: true });
  }

  /** Ends instances together, as one batch. */
  finish(...ends: readonly (InstanceKey & { state: TaskState; skips?: readonly string[] })[]): Change[] {
    for (const end of ends) this.#put({ ...this.get(end), state: end.state, skips: end.skips ?? null });
    return this.step(ends.map(({ taskId, mapIndex }) => ({ kind: 'finished', taskId, mapIndex })));
  }

  check(...keys: readonly InstanceKey[]): Change[] {
    return this.step(keys.map(({ taskId, mapIndex }) => ({ kind: 'check', taskId, mapIndex })));
  }

  step(events: readonly PlanEvent[], { everythingLoaded = false } = {}): Change[] {
    const loaded = new Set<string>();
    const load = (need: string): void => void loaded.add(need);
    const seen = (need: string): boolean => everythingLoaded || loaded.has(need);
    // The driver has the rows it finished or checks at hand.
    for (const event of events) if (event.kind !== 'started') load(needName({ ...event, kind: 'instance' }));
    const view: RunView = {
      instance: (key) =>
        seen(needName({ ...key, kind: 'instance' })) || seen(needName({ kind: 'task', taskId: key.taskId }))
          ? (this.rows.get(nameOf(key)) ?? null)
          : undefined,
      instances: (taskId) => (seen(needName({ kind: 'task', taskId })) ? this.instances(taskId) : undefined),
      length: (need) => (loaded.has(needName({ ...need, kind: 'length' })) ? this.#length(need) : undefined),
      past: (key) => (loaded.has(needName({ ...key, kind: 'past' })) ? (this.#world.past?.(key) ?? true) : undefined),
    };
    this.asked = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const result = plan(this.#blueprint, view, events);
      if (result.kind === 'complete') {
        this.failFast ||= result.failFast;
        for (const change of result.changes) this.#apply(change);
        return [...result.changes];
      }
      const fresh = result.needs.filter((need) => !loaded.has(needName(need)));
      if (fresh.length === 0) throw new Error(`asks again for what it has: ${JSON.stringify(result.needs)}`);
      for (const need of fresh) load(needName(need));
      this.asked.push(...fresh);
    }
    throw new Error('the plan is never complete');
  }

  get(key: InstanceKey): Instance {
    const row = this.rows.get(nameOf(key));
    if (!row) throw new Error(`there is no ${nameOf(key)}, only ${[...this.rows.keys()].join(', ')}`);
    return row;
  }

  instances(taskId: string): Instance[] {
    return [...this.rows.values()].filter((row) => row.taskId === taskId).sort((a, b) => a.mapIndex - b.mapIndex);
  }

  /** States by name, for comparing a whole run at once. */
  states(): Record<string, TaskStateOrNone> {
    return Object.fromEntries([...this.rows].map(([name, row]) => [name, row.state]));
  }

  inState(state: TaskStateOrNone): Instance[] {
    return [...this.rows.values()].filter((row) => row.state === state);
  }

  get isOver(): boolean {
    return [...this.rows.values()].every((row) => isFinished(row.state));
  }

  #length({ taskId, mapIndex }: { taskId: string; key: string; mapIndex: number | null }): MappedLength {
    if (mapIndex === null) {
      // A task that finishes by itself has no value to give.
      const isSilent = this.#blueprint.tasks.get(taskId)?.finishesByItself ?? false;
      const successful = this.instances(taskId).filter((row) => row.state === 'success');
      return { kind: 'known', length: isSilent ? 0 : successful.length };
    }
    const length = this.#world.lengths?.[taskId];
    return length === undefined ? { kind: 'unusable', reason: `no value of ${taskId}` } : { kind: 'known', length };
  }

  #apply(change: Change): void {
    if (change.kind === 'extend') {
      for (const { waits, ...instance } of change.instances) {
        const row = { ...instance, taskId: change.taskId, skips: null };
        if (this.rows.has(nameOf(row))) throw new Error(`${nameOf(row)} is there already`);
        this.#checkTransition(row, null, row.state);
        this.#put(row);
        if (waits) this.waits.set(nameOf(row), waits);
      }
      return;
    }
    if (change.kind === 'expand') {
      const old = this.get({ taskId: change.taskId, mapIndex: -1 });
      if (change.instances.length !== change.length) throw new Error(`${change.taskId}: length and instances differ`);
      this.rows.delete(nameOf(old));
      for (const { waits, ...instance } of change.instances) {
        this.#checkTransition({ ...instance, taskId: change.taskId }, old.state, instance.state);
        this.#put({ ...instance, taskId: change.taskId, skips: null });
        if (waits) this.waits.set(nameOf({ ...instance, taskId: change.taskId }), waits);
      }
      return;
    }
    const row = this.get(change);
    if (change.state !== undefined) this.#checkTransition(row, row.state, change.state);
    if (change.waits === 'past') this.waits.set(nameOf(row), 'past');
    else if (change.waits === null) this.waits.delete(nameOf(row));
    if (change.failure) this.failures.set(nameOf(row), change.failure.cause);
    this.#put({ ...row, state: change.state ?? row.state, upstream: change.upstream ?? row.upstream });
  }

  #checkTransition(key: InstanceKey, from: TaskStateOrNone, to: TaskStateOrNone): void {
    if (from === to && to === null) return;
    if (to === null || !mayTransition(from, to)) throw new Error(`${nameOf(key)}: ${from} may not become ${to}`);
  }

  #put(instance: Instance): void {
    this.rows.set(nameOf(instance), instance);
  }
}

const needName = (need: Need): string => {
  switch (need.kind) {
    case 'task':
      return `task ${need.taskId}`;
    case 'length':
      return `length ${need.taskId} ${need.key} ${need.mapIndex}`;
    default:
      return `${need.kind} ${need.taskId} ${need.mapIndex}`;
  }
};
