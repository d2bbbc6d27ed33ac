/**
 * The calls to the file system with which logs are written: at once while the disk is quick, through Node's pool of threads
 * when it is not. An append to a new log is six calls of some microseconds each, for which a thread has to be woken and waited
 * for: 1.2 ms of the control plane's own time for each task (two cores), against less than 0.1 ms at once.
 *
 * A call that waits for a slow disk would hold up everybody. So only file systems of the machine itself are trusted, and those
 * only as long as no call has taken long.
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
  /** To read and write, created when it is not there; never through a link. */
  open(path: string): Now<number>;
  /** `links` 0: it has been removed, and what is written to it is seen by nobody. */
  stat(file: number): Now<{ links: number; size: number }>;
  write(file: number, bytes: Uint8Array, position: number): Now<number>;
  close(file: number): Now<void>;
  makeFolder(path: string): Now<unknown>;
};

export type FileCallOptions = {
  /** Whether the file system can be trusted to be quick; asked at the first call. */
  isLocal?: () => boolean;
  now?: () => number;
};

/** Longer than any call to a healthy disk's cache takes, shorter than anybody notices. */
const SLOW_MS = 20;
const DISTRUST_MS = 60_000;
/** More than this is copied for longer than a thread takes to wake. */
const MAX_BYTES_AT_ONCE = 256 * 1024;

// Not with O_APPEND: bytes belong at their offset, and a repeated write must land on itself.
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

/** Magic numbers of Linux's statfs(2); elsewhere none of them is met. Network file systems, FUSE and whatever is not known here are not among them. */
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
    const parent = dirname(path); // not made yet
    return parent !== path && isOnThisMachine(parent);
  }
}
