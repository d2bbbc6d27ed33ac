/** What keeps task logs. One interface, several backends; readers are built on it (lines, tail, search, follow). */
import type { LogKey, LogScope } from './log-key.ts';

export type LogStore = {
  /**
   * Adds bytes that belong at `offset`. Those that are there already are skipped, so a call whose answer was lost is
   * simply made again. Answers how long the log is now; less than `offset` means that bytes before it are missing, and
   * nothing was written: go on from there. `isLast`: there is no later for these, so they are taken where others would be refused.
   */
  append(
    logKey: LogKey,
    offset: number,
    bytes: Uint8Array,
    options?: { isLast?: boolean },
  ): Promise<{ length: number }>;
  /**
   * Makes now what the first append would have to make, for a log that will be written soon: whoever appends then is waited for.
   * Absent where there is nothing to make. What fails here is met again by the append.
   */
  readonly prepare?: (logKey: LogKey) => Promise<void>;
  /** In bytes; 0 when nothing was written yet. */
  size(logKey: LogKey): Promise<number>;
  /** In blocks, read as they are asked for. Ends where the log ended when it was reached; a missing log is empty. */
  read(logKey: LogKey, range?: ByteRange): AsyncGenerator<Buffer>;
  /** Notifies when the log may have grown: at once in this process; appends of others go unnoticed, so look now and then. */
  watch(logKey: LogKey): LogWatch;
  remove(scope: LogScope): Promise<void>;
  /** Removes logs that nobody has written to since `before` (epoch milliseconds). */
  sweep(input: { before: number; signal?: AbortSignal }): Promise<{ removed: number }>;
  close(): Promise<void>;
  /** What moves acknowledged lines on to where they stay, in processes that run tasks. `close` stops it. */
  readonly background?: { start(): void };
  /** As this process knows it. */
  readonly status?: () => LogStoreStatus;
  /**
   * Undefined while what keeps the logs is there, as far as any process knows. Otherwise since when and why it is away, and from
   * which byte on the log can be read all the same.
   */
  readonly outage?: (logKey?: LogKey) => Promise<LogStoreOutage | undefined>;
  /** Where people read them in another system, for backends that have one. */
  readonly external?: { readonly name: string; urlOf(logKey: LogKey): string };
};

export type LogStoreStatus = {
  outage: { since: number; reason: string } | undefined;
  /** Acknowledged, and not yet where it stays. */
  spooledBytes: number;
};

export type LogStoreOutage = { since: string; reason: string; readableFrom: number };

/** `to` is exclusive. */
export type ByteRange = { from?: number; to?: number };

export type LogWatch = {
  /** Resolves when something was appended since the last call, when the time is up, or when the signal says so. */
  next(input: { withinMs: number; signal?: AbortSignal }): Promise<void>;
  close(): void;
};

/** The backend cannot do its work: full, not there, not allowed. The message is for the operator. */
export class LogStorageError extends Error {
  /** For whoever asked for a log, when there is more to say than that it cannot be read right now. */
  readonly advice: string | undefined;

  constructor(message: string, cause: unknown, advice?: string) {
    super(message, { cause });
    this.name = 'LogStorageError';
    this.advice = advice;
  }
}

/** What was stored is not there any more: waiting does not bring it back. */
export class LogMissingError extends LogStorageError {}

/** No more lines are taken for now: whoever has them keeps them, and comes back. */
export class LogSpoolFullError extends Error {
  constructor() {
    super('lines of task logs wait for their store, as many as logs.spool_bytes allows: try again later');
    this.name = 'LogSpoolFullError';
  }
}
