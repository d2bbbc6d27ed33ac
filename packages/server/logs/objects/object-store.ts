/** What task logs need of an object store. One implementation for S3 and what speaks like it, one for Google Cloud Storage. */

export type StoredObject = {
  size: number;
  /** Changes whenever the object is written: its ETag, or its generation. */
  tag: string;
  /** What it was written with as `owner`. */
  owner: string | undefined;
};

export type ListedObject = { key: string; writtenAt: number };

export type Writing = {
  key: string;
  size: number;
  /** The content, `size` bytes; asked for again when the writing has to begin anew. */
  blocks: () => AsyncIterable<Buffer>;
  /** Kept with the object. */
  owner: string;
  /** Only when the object still has this tag; null: when there is none. Undefined: in any case. */
  replaces?: string | null;
  signal?: AbortSignal;
};

export type ObjectStore = {
  /** In bounded memory, whatever the size. A reader sees the object as it was until all of it is there. */
  write(writing: Writing): Promise<{ tag: string }>;
  /** Bytes `from` to `to` (exclusive), all of which must be there. `answerWithinMs`: until the first of them. */
  read(key: string, range: { from: number; to: number }, limits?: { answerWithinMs?: number }): Promise<Buffer>;
  head(key: string): Promise<StoredObject | undefined>;
  /** Those that are gone already are no error. */
  remove(keys: readonly string[]): Promise<void>;
  /** In pages, in any order. */
  list(prefix: string): AsyncGenerator<ListedObject[]>;
  close(): void;
};

/**
 * away      no answer, or one that says "later": 5xx, 429, a broken connection, no time left
 * refused   somebody has to do something: no such bucket, no permission, no credentials
 * missing   there is no such object
 * changed   the object is not the one that was to be replaced
 */
export type ObjectStoreProblem = 'away' | 'refused' | 'missing' | 'changed';

/** The message is for the operator: what is wrong, and what to do. */
export class ObjectStoreError extends Error {
  readonly problem: ObjectStoreProblem;

  constructor(problem: ObjectStoreProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ObjectStoreError';
    this.problem = problem;
  }
}

/** There was no answer in time. Asking again at once would only make the caller wait as long again. */
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
