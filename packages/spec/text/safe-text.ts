/** Prepares text that authors, tasks or their sources wrote, so that it can be shown anywhere. */
import { capText } from './caps.ts';
import { redactLines, redactText } from './redact.ts';
import { sanitizeLine } from './sanitize.ts';

/** Prepares log lines: visible characters, no credentials, limited length. */
export const safeLines = (lines: readonly string[]): string[] =>
  redactLines(lines.map(sanitizeLine), 'log').map((line) => capText(line));

/** Prepares a short text on one line: a name, a reason, a note. */
export const safeText = (text: string, max = 300): string =>
  capText(redactText(sanitizeLine(text.replaceAll(/\s*\n\s*/g, ' '))).trim(), max);

export const safeTextOrNull = (text: string | null | undefined, max?: number): string | null =>
  text === null || text === undefined ? null : safeText(text, max);
