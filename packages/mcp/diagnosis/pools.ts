/** Pools in which unfinished tasks wait for a slot, and the tasks that hold the slots. */
import type { TaskInstance } from '@svc/client/wire-types.ts';
import { WAIT_REASONS } from '@svc/spec/wait-reasons.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { orWhyNot } from './evidence.ts';

const MAX_POOLS = 3;
const MAX_HOLDERS = 10;

export type PoolFacts = {
  name: string;
  /** Null if the pool does not exist or cannot be read. */
  slots: number | null;
  occupied: number | null;
  holders: TaskInstance[];
  waiters: TaskInstance[];
};

const waitsForPool = ({ wait_reason: reason }: TaskInstance): boolean =>
  reason !== null && (reason.startsWith(WAIT_REASONS.pool_full) || reason.startsWith(WAIT_REASONS.pool_missing));

export async function readPools(controlPlane: ControlPlane, unfinished: readonly TaskInstance[]): Promise<PoolFacts[]> {
  const byPool = Map.groupBy(unfinished.filter(waitsForPool), (instance) => instance.pool ?? '');
  return Promise.all([...byPool].slice(0, MAX_POOLS).map(([name, waiters]) => readPool(controlPlane, name, waiters)));
}

async function readPool(controlPlane: ControlPlane, name: string, waiters: TaskInstance[]): Promise<PoolFacts> {
  const [pool, holders] = await Promise.all([
    orWhyNot(controlPlane.get('/api/v2/pools/{pool_name}', { path: { pool_name: name } })),
    orWhyNot(
      controlPlane.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', {
        path: { dag_id: '~', dag_run_id: '~' },
        query: { pool: [name], state: ['running', 'queued'], limit: MAX_HOLDERS, order_by: ['start_date'] },
      }),
    ),
  ]);
  return {
    name,
    slots: 'whyNot' in pool ? null : pool.slots,
    occupied: 'whyNot' in pool ? null : pool.occupied_slots,
    holders: 'whyNot' in holders ? [] : holders.task_instances,
    waiters,
  };
}
