/** Prepares text that authors, tasks or their sources wrote, so that it can be shown anywhere. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { capText } from './caps.ts';
import { createLineRedactor, redactLines, redactText } from './redact.ts';
import { sanitizeLine } from './sanitize.ts';

/** Prepares log lines: visible characters, no credentials, limited length. */
export const safeLines = (lines: readonly string[]): string[] =>
  redactLines(lines.map(sanitizeLine), 'log').map((line) => capText(line));

const TURN_MS = 10;

/** Does the same, and lets other work run in between: a task may write lines that take milliseconds each. */
export async function safeLinesInTurns(lines: readonly string[]): Promise<string[]> {
  const redact = createLineRedactor('log');
  const safe: string[] = [];
  let began = performance.now();
  for (const line of lines) {
    safe.push(capText(redact(sanitizeLine(line))));
    if (performance.now() - began < TURN_MS) continue;
    await nextTurn();
    began = performance.now();
  }
  return safe;
}

/** Prepares a short text on one line: a name, a reason, a note. */
export const safeText = (text: string, max = 300): string =>
  capText(redactText(sanitizeLine(onOneLine(text))).trim(), max);

/** A regular expression for the space around line breaks would take quadratic time for a long run of spaces. */
const onOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');

export const safeTextOrNull = (text: string | null | undefined, max?: number): string | null =>
  text === null || text === undefined ? null : safeText(text, max);
