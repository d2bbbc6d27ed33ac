/** Ends every attempt at once without running anything. It serves to measure the scheduler alone. */
import type { AgentLog } from '../agents/collaborators.ts';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Attempt, Attempts } from '../engine/shared/attempts.ts';

const WORKER = { hostname: 'null', takesNew: true };

export function createNullExecutor(input: {
  attempts: Pick<Attempts, 'start' | 'finishAndTakeNext'>;
  parallelism: number;
  log: AgentLog;
}): ManagedExecutor {
  const { attempts, parallelism, log } = input;
  const listeners: (() => void)[] = [];
  let running = 0;

  const over = (): void => {
    running -= 1;
    for (const listener of listeners) listener();
  };

  /** Ends the attempt, and each attempt that it gets in return. */
  async function runFrom(first: Attempt): Promise<void> {
    let attempt: Attempt | undefined = first;
    try {
      const answer = await attempts.start(first, { hostname: 'null', pid: null });
      if (answer.kind === 'stop') return over();
      while (attempt) {
        const { next } = await attempts.finishAndTakeNext(attempt, { state: 'success' }, { worker: WORKER });
        over();
        attempt = next?.attempt;
      }
    } catch (error) {
      log.warn({ code: 'SVC3010', err: error, attempt: attempt?.attemptId }, 'an attempt of the null executor failed');
      over();
    }
  }

  return {
    capacity: () => parallelism - running,
    dispatch(claimed) {
      running += claimed.length;
      for (const attempt of claimed) void runFrom(attempt);
    },
    adopt: () => void (running += 1),
    holds: () => [],
    cancel: () => {},
    onCapacity: (listener) => void listeners.push(listener),
    dispatchCallbacks: () => {},
    triggererPer: 'environment',
    dispatchTriggerers: () => {},
    cancelTriggerers: () => {},
    start: () => {},
    isConnected: () => true,
    close: async () => {},
  };
}
