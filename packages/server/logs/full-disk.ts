/** Whether the disk of task logs is full: tasks could not be run there, although the database may be well. */
import { statfs } from 'node:fs/promises';

/** Less than this does not last for the lines of one task. */
const MIN_FREE_BYTES = 1024 * 1024;

type Space = { bsize: number; bavail: number; bfree: number };

/** Words for the operator, or null. A directory that is not there yet is not full. */
export async function fullDisk(
  dir: string,
  look: (dir: string) => Promise<Space> = statfs,
): Promise<{ cause: string; advice: string } | null> {
  const space = await look(dir).catch(() => undefined);
  if (!space) return null;
  // File systems keep some blocks for root, which a control plane in a container may be.
  const blocks = process.getuid?.() === 0 ? space.bfree : space.bavail;
  if (blocks * space.bsize >= MIN_FREE_BYTES) return null;
  const advice = 'the disk of task logs is full: free some space, or let logs.retention remove old logs';
  return { cause: `${advice} (logs.dir is ${dir})`, advice };
}
