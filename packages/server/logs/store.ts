/** The store of task logs: one interface with several backends. All readers (lines, tail, search, follow) use it. */
import type { LogKey, LogScope } from './log-key.ts';

export type LogStore = {
  /**
   * Adds bytes that belong at `offset`. Bytes that are stored already are skipped, so a call whose answer was lost can
   * simply be repeated. Returns the length of the log. If it is less than `offset`, bytes in between are missing and
   * nothing was written; the caller continues from there. `isLast` marks bytes that cannot be sent later, so they are
   * accepted where others would be refused.
   */
  append(
    logKey: LogKey,
    offset: number,
    bytes: Uint8Array,
    options?: { isLast?: boolean },
  ): Promise<{ length: number }>;
  /**
   * Does the work of the first append in advance, for a log that will be written soon, because a task waits for that
   * append. Absent if the backend has nothing to prepare. The append itself reports any error.
   */
  readonly prepare?: (logKey: LogKey) => Promise<void>;
  /** Returns the size in bytes, or 0 if nothing was written yet. */
  size(logKey: LogKey): Promise<number>;
  /** Yields blocks on demand, up to the end of the log at that moment. A missing log is empty. */
  read(logKey: LogKey, range?: ByteRange): AsyncGenerator<Buffer>;
  /**
   * Notifies when the log may have grown. Only appends of this process are certain to notify, so the caller must also
   * look periodically.
   */
  watch(logKey: LogKey): LogWatch;
  remove(scope: LogScope): Promise<void>;
  /** Removes logs without a write since `before` (epoch milliseconds). */
  sweep(input: { before: number; signal?: AbortSignal }): Promise<{ removed: number }>;
  close(): Promise<void>;
  /** Moves acknowledged lines to their final place, in processes that run tasks. `close` stops it. */
  readonly background?: { start(): void };
  /** The status as this process knows it. */
  readonly status?: () => LogStoreStatus;
  /**
   * Returns undefined while the store is reachable, as far as any process knows. Otherwise returns since when and why
   * it is unreachable, and from which byte the log can still be read.
   */
  readonly outage?: (logKey?: LogKey) => Promise<LogStoreOutage | undefined>;
  /** The page of a log in another system, for backends that have one. */
  readonly external?: { readonly name: string; urlOf(logKey: LogKey): string };
};

export type LogStoreStatus = {
  outage: { since: number; reason: string } | undefined;
  /** Bytes that are acknowledged but not yet at their final place. */
  spooledBytes: number;
};

export type LogStoreOutage = { since: string; reason: string; readableFrom: number };

/** `to` is exclusive. */
export type ByteRange = { from?: number; to?: number };

export type LogWatch = {
  /** Resolves after an append since the last call, after the time limit, or when the signal aborts. */
  next(input: { withinMs: number; signal?: AbortSignal }): Promise<void>;
  close(): void;
};

/** The backend cannot work: it is full, unreachable, or not permitted. The message is for the operator. */
export class LogStorageError extends Error {
  /** For the reader of a log, if there is more to say than that it cannot be read now. */
  readonly advice: string | undefined;

  constructor(message: string, cause: unknown, advice?: string) {
    super(message, { cause });
    this.name = 'LogStorageError';
    this.advice = advice;
  }
}

/** The stored log no longer exists, so waiting does not help. */
export class LogMissingError extends LogStorageError {}

/** The store accepts no more lines for now. The sender keeps them and tries again later. */
export class LogSpoolFullError extends Error {
  constructor() {
    super('lines of task logs wait for their store, as many as logs.spool_bytes allows: try again later');
    this.name = 'LogSpoolFullError';
  }
}
