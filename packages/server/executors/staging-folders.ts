/**
 * A directory on this machine for each run that stages files. It is created at the start of its tasks and removed when
 * the run no longer needs it (staging-sweep.ts). It belongs to the user that runs tasks, and other users cannot read
 * it.
 */
import { chmodSync, chownSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { chmod, lchown, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskUser } from '@svc/proto/task-user.ts';
import type { AgentLog } from '../agents/collaborators.ts';
import type { RunKey } from '../db/dag-runs/run-ends.ts';
import { createStagingSweep } from './staging-sweep.ts';
import type { FindRunEnds, StagingSweep } from './staging-sweep.ts';

export type StagingFolders = StagingSweep & {
  /** Called at the start of each attempt of a run. Throws a message for people when the directory cannot be created. */
  ensure(run: RunKey): string;
};

/** `uses`: how often it had been requested when it was listed. */
type SeenFolder = RunKey & { name: string; uses: number };

/** A sweep reads one directory, and queries the database only when that is not empty. */
const SWEEP_EVERY_MS = 5_000;
const FOLDER = /^(\d{1,15})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** The prefix of folders that tasks no longer see and that are being deleted. */
const REMOVED = 'removed-';

export function createStagingFolders(input: {
  /** `executor.staging_dir`; created when it is first needed. */
  root: string;
  /** The user that runs tasks. Without one it is the user of this process. */
  user: TaskUser | undefined;
  findRunEnds: FindRunEnds;
  retentionMs: number;
  log: AgentLog;
  /** Shorter in tests. */
  sweepEveryMs?: number;
}): StagingFolders {
  const { root, user, findRunEnds, retentionMs, log, sweepEveryMs: everyMs = SWEEP_EVERY_MS } = input;
  const uses = new Map<string, number>();
  const usesOf = (name: string): number => uses.get(name) ?? 0;

  function ensure({ tenantId, run }: RunKey): string {
    const name = `${run}-${tenantId}`;
    uses.set(name, usesOf(name) + 1);
    const folder = join(root, name);
    try {
      makeRoot(root, user);
      makeFolder(folder, user);
      return folder;
    } catch (error) {
      throw new Error(`the directory for staged files cannot be made (executor.staging_dir): ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  async function list(): Promise<SeenFolder[]> {
    const names = await readdir(root).catch(noneWhenMissing);
    // Left behind by a process that ended during a removal.
    for (const name of names) if (name.startsWith(REMOVED)) await removeTree(join(root, name));
    return names.flatMap((name) => {
      const [, run, tenantId] = FOLDER.exec(name) ?? [];
      return tenantId === undefined ? [] : [{ name, tenantId, run: Number(run), uses: usesOf(name) }];
    });
  }

  async function remove({ name, uses: seen }: SeenFolder): Promise<boolean> {
    if (usesOf(name) !== seen) return false;
    // Renamed in the same turn as the check, so that a later request gets a new folder.
    const removed = join(root, `${REMOVED}${name}`);
    renameSync(join(root, name), removed);
    uses.delete(name);
    await removeTree(removed);
    return true;
  }

  return { ensure, ...createStagingSweep({ list, remove, findRunEnds, retentionMs, everyMs, log }) };
}

/** When tasks run as another user, they may pass through it but not list it. */
function makeRoot(root: string, user: TaskUser | undefined): void {
  const mode = user ? 0o711 : 0o700;
  if (mkdirSync(root, { recursive: true, mode }) !== undefined) chmodSync(root, mode);
  const found = lstatSync(root);
  if (!found.isDirectory()) throw new Error(`${root} is no directory`);
  if (found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${root} must belong to the user of the control plane, and nobody else may write to it`);
  }
}

function makeFolder(folder: string, user: TaskUser | undefined): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // Only this process can create names in the parent directory, so the name is not a link. An earlier process may have
  // ended before this step.
  if (user && lstatSync(folder).uid !== user.uid) chownSync(folder, user.uid, user.gid);
}

/**
 * Tasks may still change the folder, and root may be the user that removes it. Folders are therefore taken over from
 * the top down: when one is read, no other user can add to it, and no link leads elsewhere.
 */
async function removeTree(folder: string): Promise<void> {
  await takeOver(folder);
  await rm(folder, { recursive: true, force: true });
}

async function takeOver(folder: string): Promise<void> {
  await lchown(folder, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
  await chmod(folder, 0o700);
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) await takeOver(join(folder, entry.name));
}

function noneWhenMissing(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
