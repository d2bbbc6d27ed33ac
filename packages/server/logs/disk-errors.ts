import { LogStorageError } from './store.ts';

const REMEDIES: Record<string, string> = {
  ENOSPC: 'the disk is full: free some space, or let logs.retention remove old logs',
  EDQUOT: 'the disk quota is used up: free some space, or let logs.retention remove old logs',
  EROFS: 'the file system is read-only: set logs.dir to a directory that can be written',
  EACCES: 'permission denied: let this user write there, or set logs.dir to another directory',
  EPERM: 'not permitted: let this user write there, or set logs.dir to another directory',
  EMFILE: 'too many open files: raise the limit of open files of this process',
  ENFILE: 'too many open files on this machine: raise its limit',
  ELOOP: 'there is a symbolic link where a log should be: remove it',
};

/** Adds what an operator can do about an error of the file system. Any other error stays unchanged. */
export function explainDiskError(error: unknown, dir: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined || error instanceof RangeError) return error;
  return new LogStorageError(`task logs in ${dir}: ${REMEDIES[code] ?? message}`, error);
}
