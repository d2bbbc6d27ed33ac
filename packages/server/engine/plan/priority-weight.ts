/**
 * Computes the effective priority of every task by its weight rule. `absolute` is its own weight. `downstream` adds the
 * weights of everything after it, `upstream` of everything before it, each task once however many paths lead to it. If
 * the author has a rule of their own, its result replaces the total. In the sums of others, the task counts with its
 * own weight.
 *
 * "Each once" makes this a transitive closure. It is computed for 32 tasks at a time, one bit each, so that memory
 * stays linear.
 */
import type { GraphTask } from '@svc/spec/task-graph.ts';
import type { TaskSpec } from '@svc/spec/schema-task.ts';

const BITS = 32;
// The column has four bytes.
const MAX_WEIGHT = 2_147_483_647;
const MIN_WEIGHT = -2_147_483_648;

/** `order`: every task after its upstream tasks. */
export function totalPriorityWeights(order: readonly TaskSpec[]): Map<string, number> {
  const totals = new Map(
    order.map(({ task_id: id, policy }) => [id, policy.own_weight?.weight ?? policy.priority_weight]),
  );
  addRelatives({ order: order.toReversed(), rule: 'downstream', side: 'downstream_task_ids', totals });
  addRelatives({ order, rule: 'upstream', side: 'upstream_task_ids', totals });
  for (const [taskId, total] of totals) totals.set(taskId, Math.min(MAX_WEIGHT, Math.max(MIN_WEIGHT, total)));
  return totals;
}

interface Closure {
  /** Every task after its relatives on the side. */
  readonly order: readonly TaskSpec[];
  readonly rule: TaskSpec['policy']['weight_rule'];
  readonly side: keyof Omit<GraphTask, 'task_id'>;
  readonly totals: Map<string, number>;
}

interface Block {
  readonly weights: readonly number[];
  /** The weight that they all have, if they have one. This is usual, and then counting bits is enough. */
  readonly uniform: number | null;
}

const blockOf = (weights: readonly number[]): Block => ({
  weights,
  uniform: weights.every((weight) => weight === weights[0]) ? (weights[0] ?? 0) : null,
});

function addRelatives({ order, rule, side, totals }: Closure): void {
  if (!order.some((task) => task.policy.weight_rule === rule)) return;
  const position = new Map(order.map((task, index) => [task.task_id, index]));
  const relatives = order.map((task) => task[side].map((id) => position.get(id) ?? -1).filter((index) => index >= 0));
  const weights = order.map((task) => task.policy.priority_weight);
  const sums = new Float64Array(order.length);
  const reached = new Int32Array(order.length);
  for (let start = 0; start < order.length; start += BITS) {
    const block = blockOf(weights.slice(start, start + BITS));
    reached.fill(0, start);
    // Tasks before the block also come before it in the order, so they cannot reach it.
    for (let index = start; index < order.length; index += 1) {
      let bits = 0;
      for (const relative of relatives[index] ?? []) {
        if (relative < start) continue;
        bits |= reached[relative] ?? 0;
        if (relative < start + BITS) bits |= 1 << (relative - start);
      }
      if (bits === 0) continue;
      reached[index] = bits;
      sums[index] = (sums[index] ?? 0) + weightOf(bits, block);
    }
  }
  for (const [index, task] of order.entries()) {
    if (task.policy.weight_rule === rule) totals.set(task.task_id, (weights[index] ?? 0) + (sums[index] ?? 0));
  }
}

function weightOf(bits: number, { weights, uniform }: Block): number {
  if (uniform !== null) return uniform * countBits(bits);
  let sum = 0;
  for (let left = bits; left !== 0; left &= left - 1) sum += weights[31 - Math.clz32(left & -left)] ?? 0;
  return sum;
}

function countBits(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
