/** Checks whether the disk of task logs is full. Tasks could then not run, although the database is fine. */
import { statfs } from 'node:fs/promises';

/** Less space than this is not enough for the lines of one task. */
const MIN_FREE_BYTES = 1024 * 1024;

type Space = { bsize: number; bavail: number; bfree: number };

/** Returns a message for the operator, or null. A missing directory is not full. */
export async function fullDisk(
  dir: string,
  look: (dir: string) => Promise<Space> = statfs,
): Promise<{ cause: string; advice: string } | null> {
  const space = await look(dir).catch(() => undefined);
  if (!space) return null;
  // File systems reserve some blocks for root, and a control plane in a container may run as root.
  const blocks = process.getuid?.() === 0 ? space.bfree : space.bavail;
  if (blocks * space.bsize >= MIN_FREE_BYTES) return null;
  const advice = 'the disk of task logs is full: free some space, or let logs.retention remove old logs';
  return { cause: `${advice} (logs.dir is ${dir})`, advice };
}
