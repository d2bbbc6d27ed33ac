/** Limits of untrusted text. The attention of a model is scarce, and the end of a log is most informative. */

export const MAX_LINE_LENGTH = 2_000;
/** Limit of all logs in one answer together: about 12,000 words. */
export const MAX_LOG_LENGTH = 48 * 1024;
export const MAX_LOG_LINES = 200;
export const MAX_SOURCE_BYTES = 64 * 1024;
/** Limit of any other resource. Clients refuse messages of 10 MB, and models fail long before. */
export const MAX_RESOURCE_LENGTH = 1024 * 1024;

/** Cuts a text at a maximum length, marks the cut, and never splits a character. */
export function capText(text: string, max = MAX_LINE_LENGTH): string {
  if (text.length <= max) return text;
  const kept = wholeCharacters(text.slice(0, max));
  return `${kept}… (${text.length - kept.length} more characters cut)`;
}

/** Removes half of a surrogate pair at the end. */
const wholeCharacters = (text: string): string => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);

/** Returns the part of a long line around a match. */
export function capAround(line: string, found: string, max = MAX_LINE_LENGTH): string {
  const at = line.toLowerCase().indexOf(found.toLowerCase());
  if (line.length <= max || at + found.length <= max) return capText(line, max);
  const from = Math.max(0, at - Math.floor(max / 4));
  const start = /^[\uDC00-\uDFFF]/.test(line.slice(from)) ? from + 1 : from;
  return `(${start} characters cut) …${capText(line.slice(start), max)}`;
}

/**
 * Shares one budget among several logs. Short logs leave the rest to the others, and each log keeps its last lines.
 * Line breaks count, so the joined lines fit.
 */
export function shareBudget(logs: readonly (readonly string[])[], budget = MAX_LOG_LENGTH): string[][] {
  const needs = logs.map((lines) => lines.reduce((sum, line) => sum + line.length + 1, 0));
  const granted = new Map<number, number>();
  let left = budget;
  let open = logs.length;
  for (const index of [...needs.keys()].sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))) {
    const share = Math.min(needs[index] ?? 0, Math.floor(left / open));
    granted.set(index, share);
    left -= share;
    open -= 1;
  }
  return logs.map((lines, index) => lastLinesWithin(lines, granted.get(index) ?? 0));
}

function lastLinesWithin(lines: readonly string[], length: number): string[] {
  let first = lines.length;
  for (let left = length; first > 0; first -= 1) {
    left -= (lines[first - 1]?.length ?? 0) + 1;
    if (left < 0) break;
  }
  return lines.slice(first);
}

/** Cuts a text at a maximum of UTF-8 bytes, at the end of a line if possible. */
export function capBytes(text: string, max: number): { text: string; isCut: boolean } {
  if (Buffer.byteLength(text) <= max) return { text, isCut: false };
  const kept = new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(Buffer.from(text).subarray(0, max))
    .replace(/\uFFFD+$/, '');
  const end = kept.lastIndexOf('\n');
  return { text: end > 0 ? kept.slice(0, end) : kept, isCut: true };
}
