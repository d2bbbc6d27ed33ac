/**
 * Text that others wrote (task logs, DAG sources, notes, names) before a model reads it. What a person cannot see must not
 * reach the model either, or the two are told different things: escape sequences, control characters, characters that change
 * the direction of text, and all that leave no mark (zero-width, tag characters, variation selectors) are removed whole.
 */
import { isRawNumber } from '@svc/spec/exact-json.ts';

/**
 * As terminals read them, up to their last byte; a string that nothing ends reaches to the end of the line.
 *
 *   strings   ESC ] P X ^ _ … ended by BEL, ESC \ or ST     titles, links, device control
 *   CSI       ESC [ parameters, then a final byte           colours, cursor; control characters may stand between
 *   others    ESC, intermediate bytes, a final byte
 */
const ESCAPE_SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[\u0000-\u001a\u001c-\u003f]*[@-~]?|\u001b[ -/]*[0-~]?/g;

/** They separate words or lines; without them, what was apart would run together. */
// oxlint-disable-next-line no-control-regex
const SEPARATORS = /[\r\n\u000b\u000c\u0085\u2028\u2029]+/g;

/** Controls, formats (direction marks among them), private use, lone surrogates, unassigned, and all that is not drawn. */
const INVISIBLE = /(?!\t)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;

/** Most lines need nothing; this finds them several times faster than the three replacements. */
const PLAIN = /^[\t -~]*$/;

/** One line of visible text. */
export function sanitizeLine(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(ESCAPE_SEQUENCES, '').replace(SEPARATORS, ' ').replace(INVISIBLE, '');
}

/** The same for text of several lines. */
export const sanitizeLines = (text: string): string[] => text.split(/\r?\n/).map(sanitizeLine);

/** Strings of a JSON value, keys too: a whole answer is as safe as each of its texts. */
export function sanitizeValue(value: unknown): unknown {
  if (typeof value === 'string') return value.split('\n').map(sanitizeLine).join('\n');
  if (Array.isArray(value)) return value.map(sanitizeValue);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [sanitizeLine(key), sanitizeValue(inner)]));
}
