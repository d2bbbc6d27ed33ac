/** Text in a log, by the lines of its readable form: the numbers are those a person sees. */
import { linesOf } from './lines.ts';
import type { LogKey } from './log-key.ts';
import { readRecord, textLines } from './records.ts';
import type { LogRecord } from './records.ts';
import type { LogStore } from './store.ts';

export type LogMatch = {
  /** From 1. */
  lineNumber: number;
  /** The line, with its time and level when it is the first of its message. */
  line: string;
  /** The same without them. */
  message: string;
  record: LogRecord;
};

export type LogSearch = {
  matches: LogMatch[];
  /** False: there are more than were asked for. */
  isComplete: boolean;
};

const MAX_SHOWN_LENGTH = 10_000;

/** In any letter case. Reads as far as it must and keeps the matches only. */
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
