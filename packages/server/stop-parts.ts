/**
 * The end of a process in bounded time: one part that does not stop, or not cleanly, is no reason to leave the others running,
 * nor for the process to stay. Its name is in the log, so that somebody can find out why.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** More than any part takes that is well: requests in flight have 20 s, tasks that are told to stop a little longer. */
const LIMIT_MS = 60_000;

/** By their names. Undefined: it is not there. */
export type StoppedParts = Readonly<Record<string, () => Promise<unknown> | undefined>>;
type Log = { error(details: object, message: string): void };

/** All at once. Never rejects. */
export async function stopParts(log: Log, parts: StoppedParts, limitMs = LIMIT_MS): Promise<void> {
  await Promise.all(Object.entries(parts).map(([name, stop]) => stopPart(log, name, stop, limitMs)));
}

/** One after the other, each when the one before has stopped or had its time. */
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
    late.catch(() => {}); // that it was not waited for
    if (!(await Promise.race([stopped(), late]))) log.error({ part: name, limitMs }, 'a part did not stop in time');
  } catch (error) {
    log.error({ part: name, err: error }, 'a part did not stop cleanly');
  } finally {
    enough.abort();
  }
}
