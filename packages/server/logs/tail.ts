/** Finds lines from the end of a log, without reading what precedes them. */
import type { LogKey } from './log-key.ts';
import type { LogStore } from './store.ts';

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** Limits the memory for the last lines, and the search in a log without line breaks. */
const MAX_SCANNED_BYTES = 16 * 1024 * 1024;

type Reader = Pick<LogStore, 'read'>;

/**
 * Returns where the last `count` lines before `end` start. If they are too long, it returns the start of fewer lines.
 * It reads nothing before `notBefore`.
 */
export async function startOfLastLines(
  logs: Reader,
  logKey: LogKey,
  { end, count, notBefore = 0 }: { end: number; count: number; notBefore?: number },
): Promise<number> {
  let found = 0;
  let first = end;
  for await (const at of newlinesBackwards(logs, logKey, { end, notBefore })) {
    if (at === end - 1) continue; // this line break ends the last line and starts none
    found += 1;
    first = at + 1;
    if (found === count) return first;
  }
  if (end - notBefore <= MAX_SCANNED_BYTES) return Math.min(notBefore, end);
  return found > 0 ? first : end - MAX_SCANNED_BYTES;
}

/** Returns the end of the last complete line before `end`. The rest is a line that is still being written. */
export async function endOfLastLine(logs: Reader, logKey: LogKey, end: number, notBefore = 0): Promise<number> {
  for await (const at of newlinesBackwards(logs, logKey, { end, notBefore })) return at + 1;
  return Math.max(Math.min(notBefore, end), end - MAX_SCANNED_BYTES);
}

async function* newlinesBackwards(
  logs: Reader,
  logKey: LogKey,
  { end, notBefore }: { end: number; notBefore: number },
): AsyncGenerator<number> {
  const limit = Math.max(notBefore, end - MAX_SCANNED_BYTES);
  for (let to = end; to > limit;) {
    const from = Math.max(limit, to - BLOCK_BYTES);
    const parts: Buffer[] = [];
    for await (const part of logs.read(logKey, { from, to })) parts.push(part);
    const block = Buffer.concat(parts);
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      yield from + at;
    }
    to = from;
  }
}
