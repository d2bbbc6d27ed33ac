/**
 * A directory for each run that stages files, on this machine: made at the start of its tasks, removed when the run needs it
 * no more (staging-sweep.ts). It belongs to the user tasks run as, and nobody else may look into it.
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
  /** At the start of each attempt of a run. Throws in words when it cannot be had. */
  ensure(run: RunKey): string;
};

/** `uses`: how often it had been asked for when it was looked at. */
type SeenFolder = RunKey & { name: string; uses: number };

/** A look at a directory, and at the database only when something is in it. */
const SWEEP_EVERY_MS = 5_000;
const FOLDER = /^(\d{1,15})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** Out of the way of tasks, and not yet gone. */
const REMOVED = 'removed-';

export function createStagingFolders(input: {
  /** `executor.staging_dir`; made when it is first needed. */
  root: string;
  /** As whom tasks run; without one, as ourselves. */
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
    // Of a process that ended in the middle of it.
    for (const name of names) if (name.startsWith(REMOVED)) await removeTree(join(root, name));
    return names.flatMap((name) => {
      const [, run, tenantId] = FOLDER.exec(name) ?? [];
      return tenantId === undefined ? [] : [{ name, tenantId, run: Number(run), uses: usesOf(name) }];
    });
  }

  async function remove({ name, uses: seen }: SeenFolder): Promise<boolean> {
    if (usesOf(name) !== seen) return false;
    // In the same turn as the question: whoever asks for it from now on gets a new one.
    const removed = join(root, `${REMOVED}${name}`);
    renameSync(join(root, name), removed);
    uses.delete(name);
    await removeTree(removed);
    return true;
  }

  return { ensure, ...createStagingSweep({ list, remove, findRunEnds, retentionMs, everyMs, log }) };
}

/** Others pass through it when tasks run as another user, and see no names. */
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
  // Nobody but us can put a name into the directory it is in: it is no link. A process may have ended before it came to this.
  if (user && lstatSync(folder).uid !== user.uid) chownSync(folder, user.uid, user.gid);
}

/**
 * Tasks may be changing it still, and it is perhaps root who removes it. So folders are taken from the top down first: by the
 * time one is read nobody else can put anything into it, and no link leads us elsewhere.
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
