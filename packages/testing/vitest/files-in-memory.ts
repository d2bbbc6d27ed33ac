/**
 * Vitest's global set-up: temporary files of tests are in memory where there is room. Each database is a folder of 650
 * files. To make and remove hundreds of them on a disk costs the kernel much more processor time than in memory: ext4
 * without a journal passes by all files that were removed in the last minutes whenever it looks for a free place.
 */
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endsWithThisProcess } from '../ends-with-this-process.ts';

const MEMORY = '/dev/shm';
/** A run needs less than half of it. */
const ROOM_BYTES = 6 * 1024 ** 3;

type Folder = { path: string; remove: () => Promise<void> };

/** Each project of the run loads this file again, and all of them share one folder. */
const shared = globalThis as { folderOfRun?: Promise<Folder | undefined>; projectsWithFolder?: number };

export async function setup(): Promise<() => Promise<void>> {
  shared.projectsWithFolder = (shared.projectsWithFolder ?? 0) + 1;
  const folder = await (shared.folderOfRun ??= makeFolder());
  if (folder) process.env['TMPDIR'] = folder.path;
  return async () => {
    shared.projectsWithFolder = (shared.projectsWithFolder ?? 1) - 1;
    if (shared.projectsWithFolder > 0) return;
    delete shared.folderOfRun;
    if (folder) delete process.env['TMPDIR'];
    await folder?.remove();
  };
}

async function makeFolder(): Promise<Folder | undefined> {
  // A folder that somebody has chosen is used.
  if (process.env['TMPDIR'] || !(await hasRoom())) return undefined;
  const path = await mkdtemp(join(MEMORY, 'svc-tests-'));
  const cleanedUp = endsWithThisProcess({ directory: path });
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true, maxRetries: 10 });
    cleanedUp();
  };
  await chmod(path, 0o1777); // as /tmp: Postgres and tasks may run as other users
  if (await runsPrograms(path)) return { path, remove };
  await remove();
  return undefined;
}

async function hasRoom(): Promise<boolean> {
  const found = await statfs(MEMORY).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize > ROOM_BYTES && process.availableMemory() > ROOM_BYTES;
}

/** Containers often get a `/dev/shm` from which nothing may be executed, but tests install programs. */
async function runsPrograms(path: string): Promise<boolean> {
  const program = join(path, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program, { stdio: 'ignore' });
  await rm(program);
  return status === 0;
}
