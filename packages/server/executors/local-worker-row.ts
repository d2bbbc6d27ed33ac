/** The row of the subprocess executor's worker, so that people see it next to the others. No code depends on it. */
import type { AgentLog } from '../agents/collaborators.ts';
import type { WorkerInfo } from '../agents/workers/worker-hub.ts';
import type { Database } from '../db/database.ts';
import { TOUCH_EVERY_MS, recordWorker, removeWorker, touchWorkers } from '../db/workers/workers.ts';

export type LocalWorkerRow = {
  connected(id: string, info: WorkerInfo): void;
  /** Called when it was given another attempt. */
  served(): void;
  ended(how: string): Promise<void>;
};

export const LOCAL_POOL = 'local';

export function createLocalWorkerRow(input: {
  db: Database;
  processId: string;
  slots: number;
  /** Returns how many attempts it runs. */
  running: () => number;
  log: AgentLog;
}): LocalWorkerRow {
  const { db, processId: owner, slots, log } = input;
  let current: string | undefined;
  let attemptsServed = 0;
  let timer: NodeJS.Timeout | undefined;
  const quietly = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => {},
      (error: unknown) => log.debug({ err: error }, 'the row of the local worker could not be written'),
    );

  function touch(): void {
    if (current === undefined) return;
    const running = input.running();
    const sign = { id: current, state: running > 0 ? 'busy' : 'idle', running, attemptsServed } as const;
    void quietly(touchWorkers(db, owner, [sign]));
  }

  return {
    connected(id, { hostname, pid, version }) {
      if (current !== id) attemptsServed = 0;
      current = id;
      const about = { hostname, pid, agentVersion: version, state: 'idle', slots, owner } as const;
      void quietly(recordWorker(db, { id, tenantId: null, kind: 'local', name: hostname, pool: LOCAL_POOL, ...about }));
      timer ??= setInterval(touch, TOUCH_EVERY_MS).unref();
    },
    served: () => void (attemptsServed += 1),
    async ended(how) {
      clearInterval(timer);
      timer = undefined;
      const id = current;
      current = undefined;
      if (id !== undefined) await quietly(removeWorker(db, { id, owner, state: 'gone', why: how }));
    },
  };
}
