/**
 * Ends a process in bounded time. A part that does not stop, or not cleanly, must keep neither the others nor the
 * process running. Its name is logged, so that a person can find the cause.
 */
import type { Coded } from '@svc/spec/log-codes/log-codes.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than any healthy part takes: requests in flight have 20 s, and tasks that are stopped a little longer. */
const LIMIT_MS = 60_000;

/** By their names. Undefined: it does not exist. */
export type StoppedParts = Readonly<Record<string, () => Promise<unknown> | undefined>>;
type Log = { error(details: Coded, message: string): void };

/** Stops all parts at once. Never rejects. */
export async function stopParts(log: Log, parts: StoppedParts, limitMs = LIMIT_MS): Promise<void> {
  await Promise.all(Object.entries(parts).map(([name, stop]) => stopPart(log, name, stop, limitMs)));
}

/** Stops one part after another, each after the previous one has stopped or timed out. */
export async function stopInTurn(log: Log, parts: StoppedParts, limitMs = LIMIT_MS): Promise<void> {
  for (const [name, stop] of Object.entries(parts)) await stopPart(log, name, stop, limitMs);
}

async function stopPart(log: Log, name: string, stop: StoppedParts[string], limitMs: number): Promise<void> {
  const enough = new AbortController();
  const stopped = async (): Promise<true> => {
    await stop();
    return true;
  };
  try {
    const late = sleep(limitMs, false, { signal: enough.signal });
    late.catch(() => {}); // it is aborted when it is no longer needed
    if (!(await Promise.race([stopped(), late])))
      log.error({ code: 'SVC1001', part: name, limitMs }, 'a part did not stop in time');
  } catch (error) {
    log.error({ code: 'SVC1002', part: name, err: error }, 'a part did not stop cleanly');
  } finally {
    enough.abort();
  }
}
