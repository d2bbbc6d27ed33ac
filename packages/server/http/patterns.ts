/**
 * The two kinds of name filter every list has, as Airflow has them:
 *
 *   X_pattern          anywhere in the name, in any letter case; `%` any text, `_` any character, `\%` and `\_` those two
 *   X_prefix_pattern   the name starts with exactly this; nothing is special
 *
 * In both, `|` separates alternatives, and `~` or nothing at all means every name.
 */
import { Type } from 'typebox';
import type { TextMatch } from '../db/text-match.ts';

const MAX_PATTERN_LENGTH = 2_000;

/** The two query parameters of a list: `PatternQuery('connection_id')` gives connection_id_pattern and its prefix form. */
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

/** What the database must match; empty when the parameters leave every name in. */
export function parsePatterns(input: { pattern?: string | undefined; prefix?: string | undefined }): TextMatch[] {
  const pattern = alternatives(input.pattern).map((part) => `%${withSafeEscapes(part)}%`);
  const prefix = alternatives(input.prefix).map((part) => `${part.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
  return [
    ...(pattern.length > 0 ? [{ operator: 'ilike', patterns: pattern } as const] : []),
    ...(prefix.length > 0 ? [{ operator: 'like', patterns: prefix } as const] : []),
  ];
}

/** An empty alternative (a trailing `|`, say, while somebody is still typing) would match everything: it is left out. */
function alternatives(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '~') return [];
  return text
    .split('|')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A backslash escapes a wildcard or itself. Anywhere else Postgres would swallow it, or reject the pattern at its end. */
const withSafeEscapes = (part: string): string =>
  part.replaceAll(/\\([\\%_])|\\/g, (escape, special) => (special === undefined ? String.raw`\\` : escape));
