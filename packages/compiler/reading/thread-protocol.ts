/** What a control plane and the thread that reads its workspace say to each other. */
import type { Unit } from '../discover.ts';
import type { ReadProject } from './read-project.ts';

export type ReadingCall = {
  id: number;
  of: { kind: 'units'; path: string } | { kind: 'project'; unit: { path: string; root: string } };
};

export type ReadingAnswer = { id: number } & (
  | { kind: 'units'; units: Unit[] }
  | { kind: 'project'; read: ReadProject }
  /** `isDiscovery`: there is nothing at the path that could be looked at. */
  | { kind: 'failed'; message: string; isDiscovery: boolean }
);

/**
 * Which file the thread reads, in memory that both see: a thread that hangs answers no question about itself. The first word
 * counts the files, the second is the length of the path that follows.
 */
export type Progress = SharedArrayBuffer;

const MAX_PATH_BYTES = 4_096;
const WORDS_BYTES = 8;

export const newProgress = (): Progress => new SharedArrayBuffer(WORDS_BYTES + MAX_PATH_BYTES);

export function noteProgress(progress: Progress, path: string): void {
  const words = new Int32Array(progress, 0, 2);
  // Not into the shared memory itself, which the encoder does not take.
  const bytes = new TextEncoder().encode(path).subarray(0, MAX_PATH_BYTES);
  new Uint8Array(progress, WORDS_BYTES).set(bytes);
  Atomics.store(words, 1, bytes.length);
  Atomics.add(words, 0, 1);
}

/** How many files were read so far, and the path of the last one. */
export function progressOf(progress: Progress): { count: number; path: string } {
  const words = new Int32Array(progress, 0, 2);
  const bytes = new Uint8Array(progress, WORDS_BYTES, Atomics.load(words, 1));
  return { count: Atomics.load(words, 0), path: Buffer.from(bytes).toString() };
}
