import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

export type RotatingFile = { write(text: string): void; close(): void };

/**
 * A log that never takes more than twice `maxBytes`: when full, it becomes `<file>.1` and a new one begins. Losing a log
 * line to a full disk is no reason to stop serving, so writing never throws.
 */
export function openRotatingFile(file: string, maxBytes = MAX_BYTES): RotatingFile {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  return {
    write(text) {
      try {
        if (size > 0 && size + text.length > maxBytes) {
          closeSync(descriptor);
          renameSync(file, `${file}.1`);
          descriptor = openSync(file, 'a', 0o600);
          size = 0;
        }
        size += writeSync(descriptor, text);
      } catch {
        // see above
      }
    },
    close: () => closeSync(descriptor),
  };
}
