/**
 * Knows whether Postgres can write. With a full disk Postgres still answers reads, so a round trip alone would call a
 * process ready whose writes all fail.
 *
 *   fine ──a statement fails because of the disk──▶ failing ──a probe writes to the same disk──▶ fine
 *
 * A healthy database has no extra cost: only after a failure does each ping write, until one succeeds.
 */
import type { DatabaseUnavailableError } from './outage.ts';

/** disk_full, and an input or output error below Postgres. */
const DISK_FAILURES = new Set(['53100', '58030']);

/**
 * Sorts 2 MB in 64 KiB of memory, so Postgres writes a temporary file next to its tables. It needs no privilege, leaves
 * nothing behind, and fails where a table could not grow.
 */
export const WRITE_PROBE = [
  'begin',
  "set local work_mem = '64kB'",
  'select count(distinct repeat(md5(n::text), 32)) from generate_series(1, 2000) n',
  'commit',
] as const;

export type DiskWatch = {
  /** Reports a failure that means an outage. Callers report each one. */
  failed(error: Error): void;
  /** Rejects when a statement has failed because of the disk, and `write` still does. */
  check(write: () => Promise<void>): Promise<void>;
};

/** One for all pools of a database: a probe over one pool checks the failures of the others. */
export function createDiskWatch(): DiskWatch {
  let isFailing = false;
  return {
    failed(error) {
      isFailing ||= isDiskFailure(error);
    },
    async check(write) {
      if (!isFailing) return;
      try {
        await write();
      } catch (error) {
        // Another reason says nothing about the disk, such as a `temp_file_limit` that refuses the file of the probe.
        if (isDiskFailure(causeOf(error))) throw error;
      }
      isFailing = false;
    },
  };
}

const isDiskFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && DISK_FAILURES.has(String(error.code));

const causeOf = (error: unknown): unknown => (error as Partial<DatabaseUnavailableError> | undefined)?.cause ?? error;
