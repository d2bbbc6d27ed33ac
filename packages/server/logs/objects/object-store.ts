/**
 * What task logs need from an object store. There is one implementation for S3 and compatible stores, and one for
 * Google Cloud Storage.
 */

export type StoredObject = {
  size: number;
  /** Changes with every write of the object: its ETag or its generation. */
  tag: string;
  /** The `owner` of the write. */
  owner: string | undefined;
};

export type ListedObject = { key: string; writtenAt: number };

export type Writing = {
  key: string;
  size: number;
  /** The content, `size` bytes. It is called again if the write must start again. */
  blocks: () => AsyncIterable<Buffer>;
  /** Stored with the object. */
  owner: string;
  /**
   * Writes only if the object still has this tag, or with null only if it does not exist. Undefined writes in any case.
   */
  replaces?: string | null;
  signal?: AbortSignal;
};

export type ObjectStore = {
  /** Uses bounded memory for any size. Readers see the previous object until the new one is complete. */
  write(writing: Writing): Promise<{ tag: string }>;
  /**
   * Reads bytes `from` to `to` (exclusive), which must all exist. `answerWithinMs` limits the time to the first byte.
   */
  read(key: string, range: { from: number; to: number }, limits?: { answerWithinMs?: number }): Promise<Buffer>;
  head(key: string): Promise<StoredObject | undefined>;
  /** Objects that no longer exist are not an error. */
  remove(keys: readonly string[]): Promise<void>;
  /** Yields pages in any order. */
  list(prefix: string): AsyncGenerator<ListedObject[]>;
  close(): void;
};

/**
 * away      no answer, or one that means "later": 5xx, 429, a broken connection, a timeout
 * refused   an operator must act: no such bucket, no permission, no credentials
 * missing   the object does not exist
 * changed   the object is not the one that should be replaced
 */
export type ObjectStoreProblem = 'away' | 'refused' | 'missing' | 'changed';

/** The message tells the operator what is wrong and what to do. */
export class ObjectStoreError extends Error {
  readonly problem: ObjectStoreProblem;

  constructor(problem: ObjectStoreProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ObjectStoreError';
    this.problem = problem;
  }
}

/** The store did not answer in time. An immediate retry would only make the caller wait once more. */
export class NoAnswerError extends ObjectStoreError {
  constructor(where: string, ms: number, cause?: unknown) {
    super(
      'away',
      `${where} of task logs gave no answer within ${ms / 1_000} s: lines are kept in the database until it does`,
      cause,
    );
  }
}

export const isProblem = (error: unknown, problem: ObjectStoreProblem): boolean =>
  error instanceof ObjectStoreError && error.problem === problem;
