/**
 * Calls to the file system for writing logs. They are synchronous while the disk is fast, and use Node's thread pool
 * otherwise. An append to a new log needs six calls of some microseconds each. In the thread pool, each of them would
 * have to wake a thread and wait for it.
 *
 * A synchronous call to a slow disk would block the event loop. Therefore only local file systems are trusted, and only
 * while every call is fast.
 */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  statfsSync,
  writeSync,
  close as closeFile,
  fstat,
  open as openFile,
  write as writeFile,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

type Now<T> = T | Promise<T>;

export type FileCalls = {
  /** Opens a file for reading and writing, and creates it if missing. It never follows a link. */
  open(path: string): Now<number>;
  /** `links` is 0 if the file was removed. Nothing can read what is written to it then. */
  stat(file: number): Now<{ links: number; size: number }>;
  write(file: number, bytes: Uint8Array, position: number): Now<number>;
  close(file: number): Now<void>;
  makeFolder(path: string): Now<unknown>;
};

export type FileCallOptions = {
  /** True if the file system is local and therefore fast. It is called once, with the first call to the file system. */
  isLocal?: () => boolean;
  now?: () => number;
};

/** Longer than any call to the cache of a healthy disk, and too short for people to notice. */
const SLOW_MS = 20;
const DISTRUST_MS = 60_000;
/** Copying more than this takes longer than waking a thread. */
const MAX_BYTES_AT_ONCE = 256 * 1024;

// O_APPEND is absent, because bytes belong at their offset, and a repeated write must overwrite itself.
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const FILE_MODE = 0o600;
const FOLDER = { recursive: true, mode: 0o700 } as const;

const later = {
  open: promisify(openFile),
  stat: promisify(fstat),
  write: promisify(writeFile),
  close: promisify(closeFile),
};

export function createFileCalls(root: string, options: FileCallOptions = {}): FileCalls {
  const { now = () => performance.now() } = options;
  let isLocal: boolean | undefined;
  let distrustedUntil = 0;

  function isQuick(): boolean {
    isLocal ??= (options.isLocal ?? (() => isOnThisMachine(root)))();
    return isLocal && now() >= distrustedUntil;
  }

  function timed<T>(call: () => T): T {
    const started = now();
    try {
      return call();
    } finally {
      if (now() - started > SLOW_MS) distrustedUntil = now() + DISTRUST_MS;
    }
  }

  return {
    open: (path) => (isQuick() ? timed(() => openSync(path, FLAGS, FILE_MODE)) : later.open(path, FLAGS, FILE_MODE)),
    stat: (file) => (isQuick() ? timed(() => sizeOf(fstatSync(file))) : later.stat(file).then(sizeOf)),
    write: (file, bytes, position) =>
      isQuick() && bytes.length <= MAX_BYTES_AT_ONCE
        ? timed(() => writeSync(file, bytes, 0, bytes.length, position))
        : later.write(file, bytes, 0, bytes.length, position).then(({ bytesWritten }) => bytesWritten),
    close: (file) => (isQuick() ? timed(() => closeSync(file)) : later.close(file)),
    makeFolder: (path) => (isQuick() ? timed(() => mkdirSync(path, FOLDER)) : mkdir(path, FOLDER)),
  };
}

const sizeOf = ({ nlink, size }: { nlink: number; size: number }) => ({ links: nlink, size });

/**
 * Magic numbers of Linux's statfs(2). Network file systems, FUSE and unknown file systems are not in the list. Other
 * systems never match.
 */
const LOCAL_TYPES = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
]);

function isOnThisMachine(path: string): boolean {
  try {
    return LOCAL_TYPES.has(statfsSync(path).type >>> 0);
  } catch {
    const parent = dirname(path); // the folder does not exist yet
    return parent !== path && isOnThisMachine(parent);
  }
}
