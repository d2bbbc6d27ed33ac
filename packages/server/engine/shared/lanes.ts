/**
 * Where an attempt may go when there are several executors, or workers that do not take everything: its lane. A lane is an
 * executor by name; of the remote one, a queue of a tenant. Which lane a task is in follows from what its row says and from the
 * configuration (`executor.type`, `executor.remote_queues`), so another configuration needs no change of rows.
 *
 * A claim looks only at lanes that have room in this process: a full one, or one whose workers are elsewhere or nowhere, holds up
 * nobody else.
 */
import { REMOTE } from '../sql/claims.ts';
import type { OpenLanes } from '../sql/claims.ts';

export { REMOTE } from '../sql/claims.ts';

/** `defaultExecutor`: of tasks that name none; `remoteQueues`: tasks of these that name none go to the remote one. */
export type Routing = Omit<OpenLanes, 'open'>;

/** What says in which lane a task is. */
export type Routed = { tenantId: string; executor: string | null; queue: string };

/** `open`: those that have room right now. */
export type Lanes = OpenLanes & {
  /** Is there room left for it? */
  suits(task: Routed): boolean;
  /** It gets a place. */
  take(task: Routed): void;
};

export const executorOfTask = ({ executor, queue }: Omit<Routed, 'tenantId'>, routing: Routing): string =>
  executor ?? (routing.remoteQueues.includes(queue) ? REMOTE : routing.defaultExecutor);

export const remoteLane = ({ tenantId, queue }: Pick<Routed, 'tenantId' | 'queue'>): string =>
  `${REMOTE}/${tenantId}/${queue}`;

/** sql/claims.ts says the same in SQL. */
export function laneOf(task: Routed, routing: Routing): string {
  const executor = executorOfTask(task, routing);
  return executor === REMOTE ? remoteLane(task) : executor;
}
