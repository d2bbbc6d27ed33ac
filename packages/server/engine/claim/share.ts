/**
 * How many attempts a claim takes when workers of other processes have free slots, too. Every scheduler is notified of new work at
 * the same time. The first claim takes only its share, in proportion to the free slots, so that the work is spread over all workers:
 *
 *   8 tasks, two schedulers with 32 free slots each ─▶ 4 ─▶ the other one 2 ─▶ 1 ─▶ 1
 *
 * What is left is claimed a moment later, by whichever process comes first. When there is work for all free slots, a claim takes
 * all that it has room for.
 */
import type { Routed } from '../shared/lanes.ts';

/** Workers of other processes that take the same attempts as ours. */
export type Peers = {
  /** Free slots of the worker of this process. */
  ownFree(): number;
  /** Free slots of the others, as of their last sign of life. */
  othersFree(): number;
  /** Absent: they take everything. */
  takes?: (task: Omit<Routed, 'tenantId'>) => boolean;
};

export function ownShare(found: number, { ownFree, othersFree }: Pick<Peers, 'ownFree' | 'othersFree'>): number {
  const [own, others] = [ownFree(), othersFree()];
  if (others <= 0 || found >= own + others) return found;
  return Math.ceil((found * own) / (own + others));
}

/** The first of the chosen, in their order. `found`: everything that could run now, the chosen among it. */
export function keepShare<Task extends Omit<Routed, 'tenantId'>>(
  chosen: readonly Task[],
  { found, peers }: { found: readonly Omit<Routed, 'tenantId'>[]; peers: Peers | undefined },
): readonly Task[] {
  if (!peers || peers.othersFree() <= 0) return chosen;
  const { takes = () => true } = peers;
  let left = ownShare(found.filter(takes).length, peers);
  return chosen.filter((task) => !takes(task) || left-- > 0);
}
