/** Ends every attempt as soon as it gets it, without running anything: what the scheduler alone can do is measured with it. */
import type { AgentLog } from '../agents/collaborators.ts';
import type { Attempt, Attempts, Executor } from '../scheduling/attempts.ts';

export function createNullExecutor(input: {
  attempts: Pick<Attempts, 'start' | 'finish'>;
  parallelism: number;
  log: AgentLog;
}): Executor {
  const { attempts, parallelism, log } = input;
  const listeners: (() => void)[] = [];
  let running = 0;

  async function runOne(attempt: Attempt): Promise<void> {
    try {
      const answer = await attempts.start(attempt, { hostname: 'null', pid: null });
      if (answer.kind === 'started') await attempts.finish(attempt, { state: 'success' });
    } catch (error) {
      log.warn({ err: error, attempt: attempt.attemptId }, 'an attempt of the null executor failed');
    } finally {
      running -= 1;
      for (const listener of listeners) listener();
    }
  }

  return {
    capacity: () => parallelism - running,
    dispatch(claimed) {
      running += claimed.length;
      for (const attempt of claimed) void runOne(attempt);
    },
    cancel: () => {},
    onCapacity: (listener) => void listeners.push(listener),
    dispatchCallbacks: () => {},
  };
}
