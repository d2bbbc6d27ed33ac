/** Random DAGs for property tests: every trigger rule, setups and teardowns, mapped tasks, mapped groups, also nested. */
import fc from 'fast-check';
import type { CompiledSpec, GroupSpec } from '@svc/spec/schema.ts';
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import { makeSpec, makeTask } from '../spec/make-spec.ts';
import { TRIGGER_RULE_NAMES, type TriggerRule } from '@svc/spec/trigger-rules.ts';

/** A literal list of so many items, or the value of a task further up. */
export type MapOver = number | string;

export interface TaskSketch {
  readonly id: string;
  readonly upstream?: readonly string[];
  readonly rule?: TriggerRule;
  readonly role?: 'setup' | 'teardown';
  readonly failsRun?: boolean;
  readonly isEmpty?: boolean;
  readonly past?: 'waits' | 'waits before skipping';
  readonly map?: MapOver;
  readonly group?: string;
}

export interface DagSketch {
  readonly tasks: readonly TaskSketch[];
  readonly groups?: Readonly<Record<string, { over: MapOver; parent?: string }>>;
  readonly failFast?: boolean;
}

export const mapping = (over: MapOver): MappingSpec => ({
  kind: 'expand',
  target: 'function',
  arguments: [
    typeof over === 'number'
      ? { name: 'x', value: Array.from({ length: over }, (_, index) => index), length: over }
      : { name: 'x', value: { __type: 'xcom', task_id: over, key: 'return_value' }, length: null },
  ],
  depends_on: typeof over === 'string' ? [over] : [],
});

export function sketchSpec({ tasks, groups = {}, failFast = false }: DagSketch): CompiledSpec {
  const upstream = new Map(tasks.map((task) => [task.id, new Set(task.upstream)]));
  for (const { id, map } of tasks) if (typeof map === 'string') upstream.get(id)?.add(map);
  for (const [groupId, { over }] of Object.entries(groups)) {
    if (typeof over !== 'string') continue;
    // Every entry task of a mapped group waits for what the group is expanded over.
    const inside = new Set(tasks.filter((task) => around(task.group, groups).includes(groupId)).map(({ id }) => id));
    for (const id of inside) {
      const own = upstream.get(id);
      if (own && ![...own].some((other) => inside.has(other))) own.add(over);
    }
  }
  const spec = makeSpec({
    dag: { fail_fast: failFast },
    tasks: tasks.map((task) => {
      const made = makeTask(task.id, {
        group: task.group ?? null,
        upstream: [...(upstream.get(task.id) ?? [])],
        downstream: tasks.filter(({ id }) => upstream.get(id)?.has(task.id)).map(({ id }) => id),
        policy: {
          trigger_rule: task.role === 'teardown' ? 'all_done_setup_success' : (task.rule ?? 'all_success'),
          depends_on_past: task.past !== undefined,
          wait_for_past_depends_before_skipping: task.past === 'waits before skipping',
        },
        rest: {
          is_setup: task.role === 'setup',
          is_teardown: task.role === 'teardown',
          on_failure_fail_dagrun: task.failsRun ?? false,
          mapping: task.map === undefined ? null : mapping(task.map),
        },
      });
      return { ...made, operator: { ...made.operator, is_empty: task.isEmpty ?? false } };
    }),
  });
  const [root] = spec.groups;
  if (!root) throw new Error('a spec has a root group');
  const made = Object.entries(groups).map(([groupId, { over, parent = null }]): GroupSpec => ({
    ...root,
    group_id: groupId,
    parent_id: parent,
    mapping: mapping(over),
    children: [],
  }));
  return { ...spec, groups: [root, ...made] };
}

const around = (groupId: string | undefined, groups: NonNullable<DagSketch['groups']>): string[] =>
  groupId === undefined ? [] : [groupId, ...around(groups[groupId]?.parent, groups)];

export interface RandomDagOptions {
  readonly mapped: boolean;
  readonly past?: boolean;
}

const name = (index: number): string => `t${index}`;

/** Tasks are in topological order; a group is a range of them, so that no edges lead out of it and in again. */
export const randomDag = ({ mapped, past = false }: RandomDagOptions): fc.Arbitrary<DagSketch> =>
  fc
    .record({
      // Bits of the number say which earlier tasks are upstream: shrinks well.
      tasks: fc.array(
        fc.record({
          edges: fc.nat({ max: 255 }),
          rule: fc.oneof(
            fc.constant<TriggerRule>('all_success'),
            fc.constantFrom(...TRIGGER_RULE_NAMES.filter((rule) => rule !== 'all_done_setup_success')),
          ),
          role: fc.constantFrom(undefined, undefined, undefined, 'setup', 'teardown'),
          isEmpty: fc.constantFrom(false, false, false, false, true),
          past: past ? fc.constantFrom(undefined, undefined, 'waits', 'waits before skipping') : fc.constant(undefined),
          map: mapped ? fc.constantFrom(undefined, undefined, undefined, 'literal', 'value') : fc.constant(undefined),
          over: fc.nat({ max: 7 }),
        }),
        { minLength: 2, maxLength: 8 },
      ),
      group: mapped ? fc.option(range(8)) : fc.constant(null),
      inner: mapped ? fc.option(range(3)) : fc.constant(null),
      failFast: fc.constantFrom(false, false, false, true),
    })
    .map(toSketch);

interface Range {
  readonly from: number;
  readonly length: number;
  readonly over: number;
  readonly byValue: boolean;
}

const range = (max: number): fc.Arbitrary<Range> =>
  fc.record({
    from: fc.nat({ max: max - 1 }),
    length: fc.integer({ min: 1, max: 4 }),
    over: fc.nat({ max: 7 }),
    byValue: fc.boolean(),
  });

interface RandomParts {
  readonly tasks: readonly {
    readonly edges: number;
    readonly rule: TriggerRule;
    readonly role: TaskSketch['role'] | undefined;
    readonly isEmpty: boolean;
    readonly past: TaskSketch['past'] | undefined;
    readonly map: 'literal' | 'value' | undefined;
    readonly over: number;
  }[];
  readonly group: Range | null;
  readonly inner: Range | null;
  readonly failFast: boolean;
}

// Values come from before the group; without any the length is literal.
const overOf = (before: number, { over, byValue }: { over: number; byValue: boolean }): MapOver =>
  byValue && before > 0 ? name(over % before) : over % 4;

function toSketch({ tasks, group, inner, failFast }: RandomParts): DagSketch {
  const outer = group && group.from < tasks.length ? group : null;
  const nested = outer && inner && inner.from < outer.length ? { ...inner, from: outer.from + inner.from } : null;
  const end = outer ? outer.from + outer.length : 0;
  const groupOf = (index: number): string | undefined => {
    if (!outer || index < outer.from || index >= end) return undefined;
    return nested && index >= nested.from && index < Math.min(end, nested.from + nested.length) ? 'inner' : 'outer';
  };
  return {
    // A DAG with fail_fast takes only all_success; the compiler refuses others.
    failFast,
    tasks: tasks.map((task, index) => ({
      id: name(index),
      upstream: tasks.slice(0, index).flatMap((_, earlier) => (task.edges & (1 << earlier) ? [name(earlier)] : [])),
      rule: failFast ? 'all_success' : task.rule,
      isEmpty: task.isEmpty,
      ...(task.role && { role: task.role, failsRun: task.role === 'teardown' && task.over % 2 === 0 }),
      ...(task.past && { past: task.past }),
      ...(groupOf(index) && { group: groupOf(index) ?? '' }),
      ...(task.map && {
        map: overOf(groupOf(index) ? (outer?.from ?? 0) : index, { ...task, byValue: task.map === 'value' }),
      }),
    })),
    groups: {
      ...(outer && { outer: { over: overOf(outer.from, outer) } }),
      ...(nested && { inner: { over: overOf(group?.from ?? 0, nested), parent: 'outer' } }),
    },
  };
}
