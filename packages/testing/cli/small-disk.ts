/**
 * A disk of a few megabytes that only programs started on it see: a temporary file system in a mount namespace of its own.
 * It goes when the last of them ends, however that comes about. Needs root, as mounting does.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { spawnProgram } from './spawn-svc.ts';
import type { SpawnedSvc } from './spawn-svc.ts';

export type SmallDisk = {
  start(command: readonly string[], env?: Record<string, string>): SpawnedSvc;
  /** A file on it, from outside. */
  seen(name: string): string;
  fill(): void;
  makeRoom(): void;
  /** When nobody has a file open for writing. */
  setReadOnly(): void;
  close(): Promise<void>;
};

const FILLER = 'filler';
const BLOCK = Buffer.alloc(64 * 1_024);
const READY = 'mounted';

/** Mounted at `directory`, which must exist. */
export async function openSmallDisk({
  directory,
  megabytes,
}: {
  directory: string;
  megabytes: number;
}): Promise<SmallDisk> {
  const { PATH = '', HOME = '' } = process.env;
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=755 tmpfs "$0" && echo ${READY} && exec sleep infinity`;
  const holder = spawnProgram('unshare', ['--mount', 'sh', '-c', script, directory], { env: { PATH } });
  await holder.until(READY);
  const inside = ['--target', String(holder.pid), '--mount'];
  const seen = (name: string): string => join(`/proc/${holder.pid}/root`, directory, name);
  return {
    start: (command, env = {}) => spawnProgram('nsenter', [...inside, ...command], { env: { PATH, HOME, ...env } }),
    seen,
    fill() {
      const file = openSync(seen(FILLER), 'a');
      try {
        for (;;) writeSync(file, BLOCK);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
    },
    makeRoom: () => rmSync(seen(FILLER), { force: true }),
    setReadOnly: () => void execFileSync('nsenter', [...inside, 'mount', '-o', 'remount,ro', directory]),
    async close() {
      holder.kill('SIGKILL');
      await holder.ended;
    },
  };
}
