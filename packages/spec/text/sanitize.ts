/**
 * Cleans untrusted text (task logs, DAG sources, notes, names) before a model reads it. Text that a person cannot see
 * must not reach the model. Otherwise the two would read different things. Escape sequences, control characters,
 * characters that change the direction of text, and all invisible characters (zero-width, tag characters, variation
 * selectors) are removed completely.
 */
import { isRawNumber } from '../exact-json.ts';

/**
 * Matches escape sequences as terminals do, up to their last byte. A string without an end reaches to the end of the
 * line.
 *
 *   strings   ESC ] P X ^ _ … ended by BEL, ESC \ or ST     titles, links, device control
 *   CSI       ESC [ parameters, then a final byte           colours, cursor; may contain control characters
 *   others    ESC, intermediate bytes, a final byte
 */
const ESCAPE_SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[\u0000-\u001a\u001c-\u003f]*[@-~]?|\u001b[ -/]*[0-~]?/g;

/** Separators of words or lines. Removing them without a space would join words. */
// oxlint-disable-next-line no-control-regex
const SEPARATORS = /[\r\n\u000b\u000c\u0085\u2028\u2029]+/g;

/**
 * Control and format characters (direction marks included), private use, lone surrogates, unassigned and invisible
 * characters.
 */
const INVISIBLE = /(?!\t)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;

/** Most lines need no change, and this test is several times faster than the three replacements. */
const PLAIN = /^[\t -~]*$/;

/** Returns one line of visible text. */
export function sanitizeLine(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(ESCAPE_SEQUENCES, '').replace(SEPARATORS, ' ').replace(INVISIBLE, '');
}

/** Cleans text of several lines. */
export const sanitizeLines = (text: string): string[] => text.split(/\r?\n/).map(sanitizeLine);

/** Cleans all strings of a JSON value, keys included, so that a whole answer is as safe as each text in it. */
export function sanitizeValue(value: unknown): unknown {
  if (typeof value === 'string') return value.split('\n').map(sanitizeLine).join('\n');
  if (Array.isArray(value)) return value.map(sanitizeValue);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [sanitizeLine(key), sanitizeValue(inner)]));
}
