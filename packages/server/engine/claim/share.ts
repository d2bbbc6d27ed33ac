/**
 * How many attempts a claim takes when workers of other processes have free slots, too. Every scheduler is notified of
 * new work at the same time. The first claim takes only its share, in proportion to the free slots, so that the work is
 * spread over all workers:
 *
 *   8 tasks, two schedulers with 32 free slots each ─▶ 4 ─▶ the other one 2 ─▶ 1 ─▶ 1
 *
 * The rest is claimed a moment later, by the process that comes first. When there is work for all free slots, a claim
 * takes everything for which it has room.
 */
import type { Routed } from '../shared/lanes.ts';

/** Workers of other processes that take the same attempts as ours. */
export type Peers = {
  /** Free slots of the worker of this process. */
  ownFree(): number;
  /** Free slots of the others, as of their last heartbeats. */
  othersFree(): number;
  /** True for tasks that these workers take. Absent: they take every task. */
  takes?: (task: Omit<Routed, 'tenantId'>) => boolean;
};

export function ownShare(found: number, { ownFree, othersFree }: Pick<Peers, 'ownFree' | 'othersFree'>): number {
  const [own, others] = [ownFree(), othersFree()];
  if (others <= 0 || found >= own + others) return found;
  return Math.ceil((found * own) / (own + others));
}

/**
 * Returns the first of the chosen, in their order, up to the share. `found`: everything that could run now, including
 * the chosen.
 */
export function keepShare<Task extends Omit<Routed, 'tenantId'>>(
  chosen: readonly Task[],
  { found, peers }: { found: readonly Omit<Routed, 'tenantId'>[]; peers: Peers | undefined },
): readonly Task[] {
  if (!peers || peers.othersFree() <= 0) return chosen;
  const { takes = () => true } = peers;
  let left = ownShare(found.filter(takes).length, peers);
  return chosen.filter((task) => !takes(task) || left-- > 0);
}
