/**
 * The rows of warm workers: for people (`svc workers`), for other processes, and for a process that adopts a worker and
 * needs to know how many attempts it has served. Requests of people through a row are carried out at the next touch.
 */
import type { NewWorker, WorkerOrders, WorkerSign, WorkerState } from '../../../db/workers/workers.ts';
import type { AgentLog } from '../../../agents/collaborators.ts';
import type { WorkerInfo } from '../../../agents/workers/worker-hub.ts';
import type { WarmState, WarmWorker } from './warm-worker.ts';
import { workerPodName } from './worker-identity.ts';
import type { PoolIdentity } from './worker-identity.ts';

/** Writes the rows of workers. `served`: the number that the row had. */
export type WorkerRows = {
  record(worker: NewWorker): Promise<{ served: number }>;
  touch(signs: readonly WorkerSign[]): Promise<readonly WorkerOrders[]>;
  remove(input: { id: string; state: 'gone' | 'lost'; why: string }): Promise<void>;
};

/** The name of the pool in rows. */
export const poolName = ({ dagId, versionNumber, shape }: PoolIdentity): string =>
  `${dagId} version ${versionNumber} (${shape.slice(0, 6)})`;

const SHOWN: Readonly<Record<WarmState, WorkerState>> = {
  busy: 'busy',
  idle: 'idle',
  starting: 'starting',
  draining: 'draining',
  elsewhere: 'lost',
};

export type WorkerRecords = ReturnType<typeof createWorkerRecords>;

export function createWorkerRecords(input: { rows: WorkerRows; processId: string; log: AgentLog }) {
  const { rows, processId, log } = input;
  const failed = (error: unknown): void =>
    log.warn({ code: 'SVC3023', err: error }, 'could not save the row of a warm worker');
  /** Workers whose rows this process writes. */
  const known = new Set<string>();

  return {
    async came(worker: WarmWorker, { hostname, pid, version }: WorkerInfo, state: WarmState): Promise<void> {
      const { workerId: id, tenantId, dagId, versionNumber } = worker.identity;
      const place = { tenantId, kind: 'warm' as const, name: workerPodName(id), pool: poolName(worker.identity) };
      const about = { dagId, versionNumber, hostname, pid, agentVersion: version };
      try {
        const row = await rows.record({ id, ...place, ...about, state: SHOWN[state], slots: 1, owner: processId });
        known.add(id);
        worker.served = Math.max(worker.served, row.served);
      } catch (error) {
        failed(error);
      }
    },

    left(worker: WarmWorker, why: string): void {
      const { workerId: id } = worker.identity;
      if (!known.delete(id)) return;
      rows.remove({ id, state: worker.draining === '' ? 'lost' : 'gone', why }).catch(failed);
    },

    /**
     * Writes heartbeats of the workers that are connected here. Returns those that people want to leave, with the
     * reason.
     */
    async touch(workers: readonly { worker: WarmWorker; state: WarmState; running: number }[]) {
      const own = workers.filter(({ worker, state }) => known.has(worker.identity.workerId) && state !== 'elsewhere');
      if (own.length === 0) return new Map<string, string>();
      const signs = own.map(({ worker, state, running }) => ({
        id: worker.identity.workerId,
        state: SHOWN[state],
        running,
        attemptsServed: worker.served,
      }));
      const orders = await rows.touch(signs).catch((error: unknown): readonly WorkerOrders[] => {
        failed(error);
        return [];
      });
      return new Map(
        orders.flatMap(({ id, drain, isRevoked }): [string, string][] => {
          if (isRevoked) return [[id, 'its tenant is disabled']];
          return drain ? [[id, drain.why === '' ? `${drain.by} asked for it` : `${drain.by}: ${drain.why}`]] : [];
        }),
      );
    },
  };
}
