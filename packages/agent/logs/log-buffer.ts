/**
 * Log bytes that the control plane has not acknowledged yet. Positions count from the first byte of the attempt.
 *
 *   written ──▶ memory (8 MiB) ──▶ a temporary file, once memory is full ──▶ acknowledged: forgotten
 *
 * Everything in memory comes before everything in the file. A file that is in use therefore stays in use until it is
 * empty.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAX_MEMORY_BYTES = 8 * 1024 * 1024;
/** Beyond this the task waits until the control plane has accepted some bytes. */
const MAX_WAITING_BYTES = 1024 * 1024 * 1024;

export type LogBuffer = {
  /** Returns false when the disk had no room and the bytes are lost. */
  write(bytes: Buffer): boolean;
  /** Position after the last byte written. */
  readonly end: number;
  /** Position of the first byte that is not acknowledged. */
  readonly start: number;
  readonly isFull: boolean;
  /** Returns bytes from `start`. */
  peek(maxBytes: number): Buffer;
  acknowledge(position: number): void;
  close(): void;
};

export function createLogBuffer(options: { maxMemoryBytes?: number; maxWaitingBytes?: number } = {}): LogBuffer {
  const { maxMemoryBytes = MAX_MEMORY_BYTES, maxWaitingBytes = MAX_WAITING_BYTES } = options;
  let chunks: Buffer[] = [];
  let start = 0;
  /** The position where memory ends and the file begins. */
  let memoryEnd = 0;
  let end = 0;
  let file: SpillFile | undefined;

  function dropMemory(bytes: number): void {
    let left = bytes;
    while (left > 0) {
      const [first] = chunks;
      if (!first) return;
      if (first.length > left) {
        chunks[0] = first.subarray(left);
        return;
      }
      chunks.shift();
      left -= first.length;
    }
  }

  return {
    get start() {
      return start;
    },
    get end() {
      return end;
    },
    get isFull() {
      return end - start >= maxWaitingBytes;
    },
    write(bytes) {
      if (!file && memoryEnd - start + bytes.length <= maxMemoryBytes) {
        chunks.push(bytes);
        memoryEnd += bytes.length;
      } else {
        try {
          file ??= createSpillFile();
          file.append(bytes);
        } catch {
          return false;
        }
      }
      end += bytes.length;
      return true;
    },
    peek(maxBytes) {
      if (start < memoryEnd || !file) return Buffer.concat(chunks.length > 0 ? taken(chunks, maxBytes) : []);
      return file.read(start - memoryEnd, Math.min(maxBytes, end - start));
    },
    acknowledge(position) {
      const to = Math.min(Math.max(position, start), end);
      dropMemory(Math.min(to, memoryEnd) - start);
      start = to;
      if (start < end || !file) return;
      file.close();
      file = undefined;
      memoryEnd = end;
    },
    close() {
      file?.close();
      file = undefined;
      chunks = [];
      start = memoryEnd = end;
    },
  };
}

function taken(chunks: readonly Buffer[], maxBytes: number): Buffer[] {
  const found: Buffer[] = [];
  let left = maxBytes;
  for (const chunk of chunks) {
    if (left <= 0) break;
    found.push(chunk.subarray(0, left));
    left -= chunk.length;
  }
  return found;
}

type SpillFile = { append(bytes: Buffer): void; read(from: number, length: number): Buffer; close(): void };

/**
 * Creates a file that only this user can read and that vanishes with the process, because its name is removed while it
 * is open.
 */
function createSpillFile(): SpillFile {
  const folder = mkdtempSync(join(tmpdir(), 'svc-agent-log-'));
  const handle = openSync(join(folder, 'log'), 'wx+', 0o600);
  rmSync(folder, { recursive: true, force: true });
  let size = 0;
  return {
    append(bytes) {
      for (let done = 0; done < bytes.length;) done += writeSync(handle, bytes, done, bytes.length - done, size + done);
      size += bytes.length;
    },
    read(from, length) {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(handle, buffer, 0, length, from));
    },
    close() {
      ftruncateSync(handle);
      closeSync(handle);
    },
  };
}
