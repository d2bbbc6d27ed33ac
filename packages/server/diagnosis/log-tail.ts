/** Reads the end of the log of one attempt, as far as it can be read now. Its lines are cleaned and masked. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { safeLinesInTurns } from '@svc/spec/text/safe-text.ts';
import { isOutage } from '../db/outage.ts';
import { linesOf } from '../logs/lines.ts';
import type { LogKey } from '../logs/log-key.ts';
import { readRecord, textLines } from '../logs/records.ts';
import { LogStorageError } from '../logs/store.ts';
import type { LogStore } from '../logs/store.ts';
import { startOfLastLines } from '../logs/tail.ts';
import { complaintsIn, condense, errorIn } from './error-in-log.ts';
import type { LogError } from './error-in-log.ts';

/** More lines are read than shown. The error may be before a long clean-up, and tracebacks become shorter. */
const MIN_LINES_READ = 400;
const MAX_COMPLAINTS = 8;
/** Longer than what is shown, because escape sequences may take space. */
const MAX_RAW_LINE_LENGTH = 4_000;

export type ReadTail = {
  lines: string[];
  earlierErrors: string[];
  error: LogError | null;
  note: string | null;
};

export type TailReader = Pick<LogStore, 'read' | 'size' | 'outage'>;

const nothing = (note: string): ReadTail => ({ lines: [], earlierErrors: [], error: null, note });

export async function readTail(logs: TailReader, logKey: LogKey, wanted: number): Promise<ReadTail> {
  if (logKey.tryNumber < 1) return nothing('it never started, so it has no log');
  const read = Math.max(MIN_LINES_READ, wanted);
  let raw: string[];
  try {
    raw = await lastLines(logs, logKey, read);
  } catch (error) {
    if (error instanceof LogStorageError || isOutage(error)) return nothing('the log cannot be read right now');
    throw error;
  }
  const safe = await safeLinesInTurns(raw);
  await nextTurn();
  const lines = condense(safe);
  await nextTurn();
  const error = errorIn(safe);
  await nextTurn();
  return {
    lines: lines.slice(-wanted),
    earlierErrors: complaintsIn(lines.slice(0, -wanted), MAX_COMPLAINTS),
    error,
    note: raw.length === 0 ? 'the log is empty' : null,
  };
}

async function lastLines(logs: TailReader, logKey: LogKey, count: number): Promise<string[]> {
  const size = await logs.size(logKey);
  const notBefore = Math.min((await logs.outage?.(logKey))?.readableFrom ?? 0, size);
  const from = await startOfLastLines(logs, logKey, { end: size, count, notBefore });
  const kept: string[] = [];
  for await (const batch of linesOf(logs.read(logKey, { from, to: size }))) {
    for (const line of batch) {
      const record = readRecord(line)?.record;
      if (record) kept.push(...textLines(record).map((text) => text.slice(0, MAX_RAW_LINE_LENGTH)));
    }
    if (kept.length > 2 * count) kept.splice(0, kept.length - count);
  }
  return kept.slice(-count);
}
