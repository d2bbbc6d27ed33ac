/**
 * The planner's reference: looks at every instance of the run again and again until nothing changes. No counters, no
 * needs, no shortcuts; every rule is written as its definition reads. Slow and obvious.
 */
import type { CompiledSpec } from '@svc/spec/schema.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';
import { isFinished, type TaskState, type TaskStateOrNone } from '@svc/spec/states.ts';
import { topologicalOrder } from '@svc/spec/task-graph.ts';
import type { TriggerRule } from '@svc/spec/trigger-rules.ts';
import type { InstanceKey } from '@svc/server/engine/plan/types.ts';

export interface NaiveRow extends InstanceKey {
  state: TaskStateOrNone;
  skips: readonly string[];
}

export interface NaiveWorld {
  /** Items in the value of an unmapped task; missing: it has none. */
  readonly lengths: Readonly<Record<string, number>>;
  readonly past: (key: InstanceKey) => boolean;
}

type Answer = 'wait' | 'run' | 'skipped' | 'upstream_failed';
type Mapping = NonNullable<TaskSpec['mapping']>;
interface Level {
  readonly id: string;
  readonly mapping: Mapping;
}

export class NaivePlanner {
  readonly rows: NaiveRow[] = [];
  readonly #spec: CompiledSpec;
  readonly #world: NaiveWorld;
  readonly #order: readonly TaskSpec[];

  constructor(spec: CompiledSpec, world: NaiveWorld) {
    this.#spec = spec;
    this.#world = world;
    // Which of two independent tasks is looked at first decides whether one that ends in the same step is expanded before.
    this.#order = topologicalOrder(spec.tasks).map((id) => this.#task(id));
    for (const task of this.#order) {
      const length = this.#literalLength(task);
      for (const mapIndex of length === null || length === 0 ? [-1] : Array.from({ length }, (_, index) => index)) {
        this.rows.push({ taskId: task.task_id, mapIndex, state: null, skips: [] });
      }
    }
  }

  finish(key: InstanceKey, state: TaskState, skips: readonly string[]): void {
    const row = this.rows.find(({ taskId, mapIndex }) => taskId === key.taskId && mapIndex === key.mapIndex);
    if (!row) throw new Error(`the reference has no ${key.taskId}[${key.mapIndex}]`);
    row.state = state;
    row.skips = skips;
    if (state !== 'failed' || !this.#spec.dag.fail_fast) return;
    for (const other of this.rows) {
      if (!this.#task(other.taskId).is_teardown && (other.state === null || other.state === 'scheduled')) {
        other.state = 'skipped';
      }
    }
  }

  /** Until nothing changes any more. */
  settle(): void {
    while (this.#order.some((task) => this.#pass(task)));
  }

  #pass(task: TaskSpec): boolean {
    for (const row of this.#rowsOf(task.task_id)) {
      if (row.state === null && this.#look(task, row)) return true;
    }
    return false;
  }

  #look(task: TaskSpec, row: NaiveRow): boolean {
    const set = (state: TaskState): boolean => {
      row.state = state;
      return true;
    };
    const { policy } = task;
    const past = policy.depends_on_past || policy.wait_for_downstream;
    const first = this.#answer(task, row);
    const isUnexpanded = row.mapIndex === -1 && this.#levels(task).length > 0;
    const answer = isUnexpanded && (first === 'run' || first === 'wait') ? this.#expand(task, first) : first;
    if (answer === 'expanded') return true;
    if (answer === 'wait') return false;
    if (answer === 'upstream_failed') return set('upstream_failed');
    if (answer === 'skipped') {
      const waits = past && policy.wait_for_past_depends_before_skipping && !this.#world.past(row);
      return waits ? false : set('skipped');
    }
    if (past && !this.#world.past(row)) return false;
    return set(task.operator.is_empty ? 'success' : 'scheduled');
  }

  #answer(task: TaskSpec, row: NaiveRow): Answer {
    if (this.#isExcluded(task, row)) return 'skipped';
    const upstream = task.upstream_task_ids.flatMap((id) =>
      this.#looksAtAllItems(task) ? this.#rowsOf(id) : this.#related(row, id),
    );
    const setups = this.#setupScope(task).flatMap((id) => this.#related(row, id).map(({ state }) => state));
    const rule = judgeByDefinition(
      task.policy.trigger_rule,
      upstream.map(({ state, taskId }) => ({ state, isSetup: this.#task(taskId).is_setup })),
    );
    if (rule === 'upstream_failed' || setups.some(isBad)) return 'upstream_failed';
    if (rule === 'skipped' || setups.includes('skipped')) return 'skipped';
    const lost = this.#inputsOf(task).flatMap((id) => this.#rowsOf(id).filter(({ mapIndex }) => mapIndex === -1));
    if (lost.some(({ state }) => isBad(state))) return 'upstream_failed';
    if (lost.some(({ state }) => state === 'skipped')) return 'skipped';
    return setups.some((state) => !isFinished(state)) ? 'wait' : rule;
  }

  #isExcluded(task: TaskSpec, row: NaiveRow): boolean {
    return this.rows.some((other) => {
      if (!isFinished(other.state) || !other.skips.includes(task.task_id)) return false;
      if (other.mapIndex === -1) return true;
      return this.#shared(task, this.#task(other.taskId)) > 0 && this.#related(other, task.task_id).includes(row);
    });
  }

  #expand(task: TaskSpec, answer: 'run' | 'wait'): Answer | 'expanded' {
    const levels = this.#levels(task);
    const nested = task.upstream_task_ids.some((id) => {
      const shared = this.#shared(task, this.#task(id));
      return shared > 0 && (shared < levels.length || shared < this.#levels(this.#task(id)).length);
    });
    const inputs = this.#inputsOf(task);
    const isPlain = inputs.every((id) => this.#levels(this.#task(id)).length === 0);
    if (answer === 'wait' && !(nested && isPlain)) return 'wait';
    const direct = inputs.every((id) => task.upstream_task_ids.includes(id));
    const upstreamDone = task.upstream_task_ids.every((id) => this.#rowsOf(id).every(({ state }) => isFinished(state)));
    const ready = inputs.every((id) => {
      const rows = this.#rowsOf(id);
      const expandedByUs = this.#levels(this.#task(id)).length > 0;
      return rows.every(({ state }) => isFinished(state)) && (!direct || !expandedByUs || upstreamDone);
    });
    if (!ready) return answer === 'wait' || direct ? 'wait' : 'upstream_failed';
    const length = this.#length(task);
    if (length === null) return 'upstream_failed';
    if (length === 0) return answer === 'wait' ? 'wait' : 'skipped';
    this.#multiply(task, length);
    return 'expanded';
  }

  #multiply(task: TaskSpec, length: number): void {
    const key = (one: TaskSpec): string => JSON.stringify(this.#levels(one).map(({ id }) => id));
    for (const member of this.#order) {
      if (member !== task && (task.mapping !== null || key(member) !== key(task))) continue;
      const at = this.rows.findIndex(
        (row) => row.taskId === member.task_id && row.mapIndex === -1 && row.state === null,
      );
      const row = this.rows[at];
      if (!row || this.#isExcluded(member, row)) continue;
      const made = Array.from({ length }, (_, mapIndex) => ({
        taskId: member.task_id,
        mapIndex,
        state: null,
        skips: [],
      }));
      this.rows.splice(at, 1, ...made);
    }
  }

  #looksAtAllItems({ group_id: groupId, policy }: TaskSpec): boolean {
    const isEager = ['one_success', 'one_failed', 'one_done'].includes(policy.trigger_rule);
    return isEager && this.#spec.groups.some((group) => group.group_id === groupId && group.mapping !== null);
  }

  /** Instances of the task that an instance of another stands with. */
  #related(row: NaiveRow, taskId: string): NaiveRow[] {
    const [from, to] = [this.#task(row.taskId), this.#task(taskId)];
    const rows = this.#rowsOf(taskId);
    const shared = this.#shared(from, to);
    if (row.mapIndex === -1 || shared === 0) return rows;
    const perItem = (task: TaskSpec): number =>
      this.#levels(task)
        .slice(shared)
        .reduce((product, level) => product * (this.#levelLength(task, level) ?? 1), 1);
    const item = Math.floor(row.mapIndex / perItem(from));
    return rows.filter(({ mapIndex }) => mapIndex === -1 || Math.floor(mapIndex / perItem(to)) === item);
  }

  /** Every setup above it whose scope it is in, but for its direct upstream. */
  #setupScope(task: TaskSpec): string[] {
    if (task.is_teardown || task.policy.trigger_rule === 'always') return [];
    const after = this.#far(task, 'downstream_task_ids');
    return [...this.#far(task, 'upstream_task_ids')].filter((id) => {
      const setup = this.#task(id);
      if (!setup.is_setup || task.upstream_task_ids.includes(id) || this.#isProven(task, id)) return false;
      const teardowns = setup.downstream_task_ids.filter((down) => this.#task(down).is_teardown);
      return teardowns.length === 0 || teardowns.some((down) => after.has(down));
    });
  }

  /**
   * Nothing but `all_success` in between: it can only run when the setup succeeded. What ends in the same step may then
   * be called skipped instead of upstream_failed.
   */
  #isProven({ policy, upstream_task_ids: upstream }: TaskSpec, setupId: string): boolean {
    if (policy.trigger_rule !== 'all_success' || policy.wait_for_past_depends_before_skipping) return false;
    return upstream.some((id) => id === setupId || this.#isProven(this.#task(id), setupId));
  }

  #far(task: TaskSpec, side: 'upstream_task_ids' | 'downstream_task_ids'): Set<string> {
    const found = new Set<string>();
    const visit = (id: string): void => {
      for (const next of this.#task(id)[side]) {
        found.add(next);
        visit(next);
      }
    };
    visit(task.task_id);
    return found;
  }

  #levels(task: TaskSpec): Level[] {
    const levels: Level[] = task.mapping ? [{ id: `task ${task.task_id}`, mapping: task.mapping }] : [];
    for (let id = task.group_id; id !== null;) {
      const group = this.#spec.groups.find(({ group_id }) => group_id === id);
      if (group?.mapping) levels.unshift({ id, mapping: group.mapping });
      id = group?.parent_id ?? null;
    }
    return levels;
  }

  #shared(one: TaskSpec, other: TaskSpec): number {
    const common = this.#common(one, other);
    const isLiteral = (task: TaskSpec): boolean =>
      this.#levels(task)
        .slice(common)
        .every(({ mapping }) => mapping.depends_on.length === 0);
    return isLiteral(one) || isLiteral(other) ? common : 0;
  }

  #common(one: TaskSpec, other: TaskSpec): number {
    const [a, b] = [this.#levels(one), this.#levels(other)];
    const differs = a.findIndex(({ id }, index) => id !== b[index]?.id);
    return differs === -1 ? a.length : differs;
  }

  #inputsOf(task: TaskSpec): string[] {
    return [...new Set(this.#levels(task).flatMap(({ mapping }) => mapping.depends_on))];
  }

  #literalLength(task: TaskSpec): number | null {
    const levels = this.#levels(task);
    if (levels.length === 0) return null;
    const lengths = levels.map(({ mapping }) =>
      mapping.kind === 'expand' ? (mapping.arguments[0]?.length ?? null) : null,
    );
    return lengths.reduce((product, length) => (product === null || length === null ? null : product * length), 1);
  }

  #length(task: TaskSpec): number | null {
    return this.#levels(task)
      .map((level) => this.#levelLength(task, level))
      .reduce((product, length) => (product === null || length === null ? null : product * length), 1);
  }

  /** The generator makes mappings of one argument: a literal list or one task's value. */
  #levelLength(task: TaskSpec, { mapping }: Level): number | null {
    const [argument] = mapping.kind === 'expand' ? mapping.arguments : [];
    if (argument === undefined || argument.length !== null) return argument?.length ?? null;
    const [source] = mapping.depends_on;
    if (source === undefined || this.#common(task, this.#task(source)) > 0) return null;
    if (this.#levels(this.#task(source)).length === 0) return this.#world.lengths[source] ?? null;
    if (this.#task(source).operator.is_empty) return 0;
    return this.#rowsOf(source).filter(({ state }) => state === 'success').length;
  }

  #rowsOf(taskId: string): NaiveRow[] {
    return this.rows.filter((row) => row.taskId === taskId);
  }

  #task(taskId: string): TaskSpec {
    const task = this.#spec.tasks.find(({ task_id }) => task_id === taskId);
    if (!task) throw new Error(`there is no task ${taskId}`);
    return task;
  }
}

const isBad = (state: TaskStateOrNone): boolean => state === 'failed' || state === 'upstream_failed';

interface Upstream {
  readonly state: TaskStateOrNone;
  readonly isSetup: boolean;
}

/** The rules as docs/ and Airflow's own pages put them. */
function judgeByDefinition(rule: TriggerRule, upstream: readonly Upstream[]): Answer {
  const states = upstream.map(({ state }) => state);
  const has = (...wanted: readonly TaskState[]): boolean =>
    states.some((state) => state !== null && wanted.includes(state));
  const every = (...wanted: readonly TaskState[]): boolean =>
    states.every((state) => state !== null && wanted.includes(state));
  const done = states.every(isFinished);
  if (states.length === 0) return 'run';
  const setups = upstream.filter(({ isSetup }) => isSetup).map(({ state }) => state);
  const table: Record<TriggerRule, () => readonly [Answer, boolean][]> = {
    all_success: () => [
      ['upstream_failed', has('failed', 'upstream_failed')],
      ['skipped', has('skipped')],
      ['run', every('success')],
    ],
    all_failed: () => [
      ['skipped', has('success', 'skipped')],
      ['run', every('failed', 'upstream_failed')],
    ],
    all_done: () => [['run', done]],
    all_done_min_one_success: () => [
      ['skipped', has('skipped')],
      ['run', done && has('success')],
      ['upstream_failed', done],
    ],
    all_done_setup_success: () => [
      ['skipped', done && setups.length > 0 && setups.every((state) => state === 'skipped')],
      ['upstream_failed', done && setups.length > 0 && !setups.includes('success')],
      ['run', done],
    ],
    one_success: () => [
      ['run', has('success')],
      ['skipped', every('skipped')],
      ['upstream_failed', done],
    ],
    one_failed: () => [
      ['run', has('failed', 'upstream_failed')],
      ['skipped', done],
    ],
    one_done: () => [
      ['run', has('success', 'failed')],
      ['skipped', done],
    ],
    none_failed: () => [
      ['upstream_failed', has('failed', 'upstream_failed')],
      ['run', every('success', 'skipped')],
    ],
    none_failed_min_one_success: () => [
      ['upstream_failed', has('failed', 'upstream_failed')],
      ['skipped', every('skipped')],
      ['run', every('success', 'skipped')],
    ],
    none_skipped: () => [
      ['skipped', has('skipped')],
      ['run', done],
    ],
    all_skipped: () => [
      ['skipped', has('success', 'failed', 'upstream_failed')],
      ['run', every('skipped')],
    ],
    always: () => [['run', true]],
  };
  return table[rule]().find(([, holds]) => holds)?.[0] ?? 'wait';
}
