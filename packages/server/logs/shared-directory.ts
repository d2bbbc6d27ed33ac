/**
 * Verifies that `logs.dir` of this process is the directory that the schedulers write to, on any machine. Each
 * scheduler writes a file there, named after the installation, and records this in the database.
 *
 *   no scheduler has recorded it yet    answers with logs say so until one has
 *   recorded, but the file is missing   another directory: an api process refuses to start, log answers say why
 */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainDiskError } from './disk-errors.ts';
import { LogStorageError } from './store.ts';
import type { LogStore } from './store.ts';

type Installation = { id: string; logsMarkedAt: string | null };

const WHAT_IT_IS =
  'svc task logs are kept in this directory. Processes of the control plane find out by this file that they share it; leave it here.\n';

const markerIn = (dir: string, installationId: string): string => join(dir, `.svc-installation-${installationId}`);

export async function markDirectory(dir: string, installationId: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true });
    await writeFile(markerIn(dir, installationId), WHAT_IT_IS);
  } catch (error) {
    throw explainDiskError(error, dir);
  }
}

export async function isMarked(dir: string, installationId: string): Promise<boolean> {
  return stat(markerIn(dir, installationId)).then(
    () => true,
    () => false, // whatever prevents reading this file would also prevent reading logs
  );
}

/** For a process that starts. Returns undefined if the directory is shared, or if this cannot be known yet. */
export async function unsharedReason(dir: string, installation: Installation): Promise<string | undefined> {
  if (installation.logsMarkedAt === null || (await isMarked(dir, installation.id))) return undefined;
  return `logs.dir ${dir} is not the directory in which the schedulers of this installation keep task logs: let this process share theirs (a network file system, a ReadWriteMany volume), or keep logs in an object store (SVC_LOGS_BACKEND=objstore)`;
}

/** Refuses answers until the directory is known to be shared, because an empty log would be wrong. */
export function guardLogs(store: LogStore, dir: string, findInstallation: () => Promise<Installation>): LogStore {
  let isSeen = false;
  async function check(): Promise<void> {
    if (isSeen) return;
    const installation = await findInstallation();
    isSeen = await isMarked(dir, installation.id);
    if (isSeen) return;
    const advice =
      installation.logsMarkedAt === null
        ? 'no scheduler has been seen yet that keeps task logs in a directory: start one that shares logs.dir with this server'
        : 'this server does not share the directory in which schedulers keep task logs: its operator has to share logs.dir, or keep logs in an object store';
    throw new LogStorageError(`task logs in ${dir}: ${advice}`, undefined, advice);
  }
  const checked = async <T>(work: () => Promise<T>): Promise<T> => {
    await check();
    return work();
  };
  return {
    ...store,
    append: (...args) => checked(() => store.append(...args)),
    size: (...args) => checked(() => store.size(...args)),
    async *read(...args) {
      await check();
      yield* store.read(...args);
    },
    remove: (...args) => checked(() => store.remove(...args)),
    sweep: (...args) => checked(() => store.sweep(...args)),
  };
}
