import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

const MAX_BYTES = 10 * 1024 * 1024;

export type RotatingFile = { write(text: string): void; close(): void };

/**
 * A log file of at most twice `maxBytes`: a full file becomes `<file>.1`, and a new one starts. Writing never throws,
 * because serving must continue even if a full disk loses log lines.
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
        // lost on purpose, see above
      }
    },
    close: () => closeSync(descriptor),
  };
}
