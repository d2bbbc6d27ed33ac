/**
 * The queue of rows to judge, upstream first. A row is judged when nothing upstream can change any more in the same
 * plan. The outcome therefore does not depend on the order of the ends in a batch.
 */
import type { Row } from './loaded-rows.ts';

export class JudgeQueue {
  readonly #rows = new Map<number, Set<Row>>();
  /** Binary heap of the `order` values that have rows. */
  readonly #heap: number[] = [];

  add(row: Row): void {
    const { order } = row.task;
    const rows = this.#rows.get(order);
    if (rows) {
      rows.add(row);
      return;
    }
    this.#rows.set(order, new Set([row]));
    this.#push(order);
  }

  /** Returns the rows of the next task. */
  next(): ReadonlySet<Row> | undefined {
    const order = this.#pop();
    if (order === undefined) return undefined;
    const rows = this.#rows.get(order);
    this.#rows.delete(order);
    return rows;
  }

  #push(order: number): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] ?? -1;
      if (above <= order) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = order;
  }

  #pop(): number | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = index * 2 + 1;
      if (child + 1 < heap.length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child += 1;
      const below = heap[child];
      if (below === undefined || below >= last) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}
