/**
 * Sends the log of one attempt to the control plane, as one JSON object per line.
 *
 * Lines are sent soon after they are written, so that people can watch. A task that ends before that sends no log
 * message: its few lines go with the outcome.
 */
import { StringDecoder } from 'node:string_decoder';
import { MAX_LOG_CHUNK_BYTES, MAX_LOG_TAIL_BYTES } from '@svc/proto/limits.ts';
import { Refusal } from '../contact/control-plane.ts';
import { createLogBuffer } from './log-buffer.ts';
import type { Masks } from './masks.ts';
import { latest, momentOf, nowIso } from '@svc/spec/clock.ts';
import type { StreamName } from '../task-sockets.ts';

export type Level = 'debug' | 'info' | 'warning' | 'error';

export type AttemptLog = {
  /** Adds a line of the agent itself. */
  note(text: string, level?: Level): void;
  /** Adds records of the task process. */
  write(records: readonly unknown[]): void;
  /** Adds output of programs: bytes, which are cut into lines here. */
  output(name: StreamName, chunk: Buffer): void;
  outputEnded(name: StreamName): void;
  /** True while the task should wait. */
  isFull(): boolean;
  /** Called when the attempt has started; its log continues at `offset`. Nothing is sent before. */
  begin(offset: number): void;
  /** Returns the unacknowledged tail, after flushing until it fits into Finish. */
  tail(): Promise<{ offset: number; data: Buffer }>;
  /** Notes the length of the log that the control plane reports. */
  acknowledge(length: number): void;
  /** Resolves when everything has arrived. */
  flush(): Promise<void>;
  close(): void;
};

const SEND_AFTER_MS = 250;
const SEND_AT_BYTES = 64 * 1024;
const MAX_LINE_CHARACTERS = 64 * 1024;
/**
 * How much of a line without an end is held back: a secret must not be sent in two halves, which no mask would match.
 */
const HELD_BACK_CHARACTERS = 8 * 1024;

/** The format of our own lines. Others are converted. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

export function createAttemptLog(input: {
  /**
   * Repeats the call until it is answered. Bytes that are stored already are skipped; `length` is the new length of the
   * log.
   */
  append: (chunk: { offset: number; data: Buffer }) => Promise<{ length: number }>;
  masks: Masks;
  signal: AbortSignal;
  /** Called when the task may continue. */
  onRoom: () => void;
}): AttemptLog {
  const { append, masks, signal } = input;
  const buffer = createLogBuffer();
  const lines = { stdout: createOutput(masks), stderr: createOutput(masks) };
  /** Where the lines of this attempt begin in the log. Undefined until the attempt has started. */
  let base: number | undefined;
  let sending: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isGivenUp = false;
  let lastLineAt: string | null = null;
  const waitingBytes = (): number => (isGivenUp ? 0 : buffer.end - buffer.start);

  function store(text: string): void {
    if (isGivenUp || !buffer.write(Buffer.from(text))) return;
    if (base === undefined) return;
    if (buffer.end - buffer.start >= SEND_AT_BYTES) void send();
    else timer ??= setTimeout(() => void send(), SEND_AFTER_MS);
  }

  function send(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
      // Written while the last call was under way.
      if (!isGivenUp && buffer.start < buffer.end) timer ??= setTimeout(() => void send(), SEND_AFTER_MS);
    });
    return sending;
  }

  /** Sends what is buffered now. What a busy task adds in the meantime is sent the next time. */
  async function sendAll(): Promise<void> {
    const goal = buffer.end;
    while (base !== undefined && buffer.start < goal && !isGivenUp) {
      const offset = base + buffer.start;
      const data = buffer.peek(MAX_LOG_CHUNK_BYTES);
      try {
        const { length } = await append({ offset, data });
        acknowledge(length, offset + data.length);
      } catch (error) {
        if (!(error instanceof Refusal) && !signal.aborted) throw error;
        giveUp(); // the control plane no longer accepts these lines
      }
    }
  }

  function acknowledge(length: number, sentUpTo: number): void {
    if (base === undefined) return;
    const from = base + buffer.start;
    // The control plane has lost bytes that it had acknowledged. Continues where its log ends now.
    if (length < from) base -= from - length;
    else buffer.acknowledge(Math.min(length, sentUpTo) - base);
    if (!buffer.isFull) input.onRoom();
  }

  function giveUp(): void {
    isGivenUp = true;
    buffer.close();
    input.onRoom();
  }

  /**
   * The task and the agent read the clock separately, and the clock may be set while the task runs. The moments of
   * lines never decrease.
   */
  function storeRecords(records: readonly unknown[]): void {
    store(records.map((record) => `${JSON.stringify(inOrder(record))}\n`).join(''));
  }

  function inOrder(record: unknown): unknown {
    const { timestamp } = (record ?? {}) as { timestamp?: unknown };
    if (typeof timestamp !== 'string') return record;
    const moment = MOMENT.test(timestamp) ? timestamp : momentOf(timestamp);
    if (moment === undefined) return record;
    lastLineAt = latest(moment, lastLineAt);
    return lastLineAt === timestamp ? record : { ...(record as object), timestamp: lastLineAt };
  }

  function line(name: StreamName, event: string): void {
    const level = name === 'stdout' ? 'info' : 'error';
    storeRecords([{ timestamp: nowIso(), level, logger: `task.${name}`, event: masks.apply(event) }]);
  }

  return {
    note: (text, level = 'info') =>
      storeRecords([{ timestamp: nowIso(), level, logger: 'svc.agent', event: masks.apply(text) }]),
    write: storeRecords,
    output(name, chunk) {
      for (const text of lines[name].push(chunk)) line(name, text);
    },
    outputEnded(name) {
      const rest = lines[name].end();
      if (rest !== '') line(name, rest);
    },
    isFull: () => !isGivenUp && buffer.isFull,
    begin(offset) {
      base = offset;
      if (buffer.start < buffer.end) timer ??= setTimeout(() => void send(), SEND_AFTER_MS);
    },
    async tail() {
      while (waitingBytes() > MAX_LOG_TAIL_BYTES) await send();
      await sending;
      clearTimeout(timer);
      timer = undefined;
      return { offset: (base ?? 0) + buffer.start, data: buffer.peek(Infinity) };
    },
    acknowledge: (length) => acknowledge(length, Infinity),
    async flush() {
      while (waitingBytes() > 0) await send();
    },
    close() {
      clearTimeout(timer);
      isGivenUp = true;
      buffer.close();
    },
  };
}

/** Returns whole lines of a stream of bytes, and a very long one in pieces. */
function createOutput(masks: Masks): { push(chunk: Buffer): string[]; end(): string } {
  const decoder = new StringDecoder('utf8');
  let partial = '';
  return {
    push(chunk) {
      const lines = (partial + decoder.write(chunk)).split('\n');
      partial = lines.pop() ?? '';
      if (partial.length >= MAX_LINE_CHARACTERS + HELD_BACK_CHARACTERS) {
        const masked = masks.apply(partial);
        lines.push(masked.slice(0, -HELD_BACK_CHARACTERS));
        partial = masked.slice(-HELD_BACK_CHARACTERS);
      }
      return lines.map((text) => (text.endsWith('\r') ? text.slice(0, -1) : text));
    },
    end() {
      const rest = partial + decoder.end();
      partial = '';
      return rest;
    },
  };
}
