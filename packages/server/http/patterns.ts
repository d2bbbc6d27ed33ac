/**
 * The two name filters of every list, as in Airflow:
 *
 *   X_pattern          anywhere in the name, in any letter case; `%`: any text, `_`: any character; `\` escapes both
 *   X_prefix_pattern   the name starts with exactly this text; no character is special
 *
 * In both, `|` separates alternatives. `~` or an empty text matches every name.
 */
import { Type } from 'typebox';
import type { TextMatch } from '../db/text-match.ts';

const MAX_PATTERN_LENGTH = 2_000;

/**
 * The two query parameters of a list. `PatternQuery('connection_id')` makes connection_id_pattern and its prefix form.
 */
export const PatternQuery = <Name extends string>(name: Name) => {
  const pattern = Type.Optional(
    Type.String({
      maxLength: MAX_PATTERN_LENGTH,
      description:
        'Part of the name, in any letter case; `%` and `_` are wildcards, `|` separates alternatives, `~` is all',
    }),
  );
  const prefix = Type.Optional(
    Type.String({
      maxLength: MAX_PATTERN_LENGTH,
      description: 'How the name starts, in exactly this letter case; `|` separates alternatives, `~` is all',
    }),
  );
  return { [`${name}_pattern`]: pattern, [`${name}_prefix_pattern`]: prefix } as {
    [Key in `${Name}_pattern`]: typeof pattern;
  } & { [Key in `${Name}_prefix_pattern`]: typeof prefix };
};

/** Returns what the database must match. The list is empty when the parameters match every name. */
export function parsePatterns(input: { pattern?: string | undefined; prefix?: string | undefined }): TextMatch[] {
  const pattern = alternatives(input.pattern).map((part) => `%${withSafeEscapes(part)}%`);
  const prefix = alternatives(input.prefix).map((part) => `${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
  return [
    ...(pattern.length > 0 ? [{ operator: 'ilike', patterns: pattern } as const] : []),
    ...(prefix.length > 0 ? [{ operator: 'like', patterns: prefix } as const] : []),
  ];
}

/**
 * Splits a filter into its alternatives. An empty one, for example after a trailing `|`, would match everything, so it
 * is dropped.
 */
function alternatives(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '~') return [];
  return text
    .split('|')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/**
 * Keeps a backslash that escapes a wildcard or itself, and doubles any other. Postgres would drop it, or refuse the
 * pattern if it ends with it.
 */
const withSafeEscapes = (part: string): string =>
  part.replaceAll(/\\([\\%_])|\\/g, (escape, special) => (special === undefined ? String.raw`\\` : escape));
