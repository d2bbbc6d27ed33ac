/**
 * The lane of an attempt: where it may go when there are several executors, or workers that do not take every task. A
 * lane is an executor by name, or for the remote executor a queue of a tenant. The row of a task and the configuration
 * (`executor.type`, `executor.remote_queues`) decide its lane, so a changed configuration needs no change of rows.
 *
 * A claim looks only at lanes that have room in this process. A lane that is full, or that has no workers here,
 * therefore delays no other lane.
 */
import { REMOTE } from '../sql/claims.ts';
import type { OpenLanes } from '../sql/claims.ts';

export { REMOTE } from '../sql/claims.ts';

/**
 * `defaultExecutor`: for tasks that name none. `remoteQueues`: tasks of these queues that name none go to the remote
 * executor.
 */
export type Routing = Omit<OpenLanes, 'open'>;

/** The facts that decide the lane of a task. */
export type Routed = { tenantId: string; executor: string | null; queue: string };

/** `open`: the lanes that have room now. */
export type Lanes = OpenLanes & {
  /** True when there is room for the task. */
  suits(task: Routed): boolean;
  /** Takes the place of one task. */
  take(task: Routed): void;
};

export const executorOfTask = ({ executor, queue }: Omit<Routed, 'tenantId'>, routing: Routing): string =>
  executor ?? (routing.remoteQueues.includes(queue) ? REMOTE : routing.defaultExecutor);

export const remoteLane = ({ tenantId, queue }: Pick<Routed, 'tenantId' | 'queue'>): string =>
  `${REMOTE}/${tenantId}/${queue}`;

/** sql/claims.ts has the same rule in SQL. */
export function laneOf(task: Routed, routing: Routing): string {
  const executor = executorOfTask(task, routing);
  return executor === REMOTE ? remoteLane(task) : executor;
}
