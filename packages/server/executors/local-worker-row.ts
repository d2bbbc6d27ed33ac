/**
 * The row of the subprocess executor's worker. People see it next to the others, and the schedulers of other processes
 * read from it how much room the worker has.
 */
import type { AgentLog } from '../agents/collaborators.ts';
import type { WorkerInfo } from '../agents/workers/worker-hub.ts';
import type { Database } from '../db/database.ts';
import {
  TOUCH_EVERY_MS,
  countFreeLocalSlots,
  recordWorker,
  removeWorker,
  touchWorkers,
} from '../db/workers/workers.ts';

export type LocalWorkerRow = {
  connected(id: string, info: WorkerInfo): void;
  /** Called when its process may still live. Without heartbeats its row is shown as lost until it connects again. */
  disconnected(id: string): void;
  /** Called when it was given another attempt. */
  served(): void;
  ended(how: string): Promise<void>;
  /** Returns the free slots of the local workers of other processes. */
  othersFree(): number;
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
  let isConnected = false;
  let attemptsServed = 0;
  let othersFree = 0;
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<void> = Promise.resolve();

  /** One write after another: a heartbeat that arrives after the end would show a dead worker as idle. */
  function write(work: () => Promise<unknown>): Promise<void> {
    written = written.then(work).then(
      () => {},
      (error: unknown) => log.debug({ err: error }, 'the row of the local worker could not be written'),
    );
    return written;
  }

  async function touch(id: string): Promise<void> {
    if (id !== current || !isConnected) return;
    const running = input.running();
    const sign = { id, state: running > 0 ? 'busy' : 'idle', running, attemptsServed } as const;
    await touchWorkers(db, owner, [sign]);
    othersFree = await countFreeLocalSlots(db, { exceptOwner: owner });
  }

  function tick(): void {
    const id = current;
    if (id !== undefined) void write(() => touch(id));
  }

  return {
    connected(id, { hostname, pid, version }) {
      if (current !== id) attemptsServed = 0;
      current = id;
      isConnected = true;
      const about = { hostname, pid, agentVersion: version, state: 'idle', slots, owner } as const;
      const row = { id, tenantId: null, kind: 'local', name: hostname, pool: LOCAL_POOL, ...about } as const;
      void write(() => recordWorker(db, row));
      tick();
      timer ??= setInterval(tick, TOUCH_EVERY_MS).unref();
    },
    disconnected(id) {
      if (id === current) isConnected = false;
    },
    served: () => void (attemptsServed += 1),
    async ended(how) {
      clearInterval(timer);
      timer = undefined;
      const id = current;
      current = undefined;
      isConnected = false;
      othersFree = 0;
      if (id !== undefined) await write(() => removeWorker(db, { id, owner, state: 'gone', why: how }));
    },
    othersFree: () => othersFree,
  };
}
