/** Searches text in a log by the lines of its readable form, so that line numbers are those that people see. */
import { linesOf } from './lines.ts';
import type { LogKey } from './log-key.ts';
import { readRecord, textLines } from './records.ts';
import type { LogRecord } from './records.ts';
import type { LogStore } from './store.ts';

export type LogMatch = {
  /** Counts from 1. */
  lineNumber: number;
  /** The line, with its time and level if it is the first of its message. */
  line: string;
  /** The line without its time and level. */
  message: string;
  record: LogRecord;
};

export type LogSearch = {
  matches: LogMatch[];
  /** False if there are more matches than requested. */
  isComplete: boolean;
};

const MAX_SHOWN_LENGTH = 10_000;

/** Ignores letter case. It reads only as far as needed and keeps only the matches. */
export async function searchLog(
  logs: Pick<LogStore, 'read'>,
  logKey: LogKey,
  input: { text: string; maxMatches: number; to: number; signal?: AbortSignal },
): Promise<LogSearch> {
  const wanted = input.text.toLowerCase();
  const matches: LogMatch[] = [];
  let lineNumber = 0;
  for await (const lines of linesOf(logs.read(logKey, { to: input.to }))) {
    if (input.signal?.aborted) break;
    for (const line of lines) {
      const record = readRecord(line)?.record;
      if (!record) continue;
      for (const [index, text] of textLines(record).entries()) {
        lineNumber += 1;
        if (!text.toLowerCase().includes(wanted)) continue;
        if (matches.length === input.maxMatches) return { matches, isComplete: false };
        matches.push(matchOf({ lineNumber, text, index, record }));
      }
    }
  }
  return { matches, isComplete: true };
}

function matchOf(input: { lineNumber: number; text: string; index: number; record: LogRecord }): LogMatch {
  const { lineNumber, text, index, record } = input;
  const message = index === 0 ? (record.event.split(/\r?\n/, 1)[0] ?? '') : text;
  return { lineNumber, line: shortened(text), message: shortened(message), record };
}

const shortened = (text: string): string =>
  text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…` : text;
