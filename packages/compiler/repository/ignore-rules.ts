/**
 * `.airflowignore`: what of a DAGs folder is not looked at. Each file counts for its own folder and all below it.
 *
 *   glob      as .gitignore: the last line that matches decides, and `!` brings back
 *   regexp    a line found anywhere in the path, relative to the folder of the file, leaves it out
 */
import { join, relative } from 'node:path';
import ignore from 'ignore';
import { FileLimitError } from '@svc/spec/files/limits.ts';
import { textIfReadable } from '@svc/spec/files/read-text.ts';

export const IGNORE_FILE = '.airflowignore';
export type IgnoreSyntax = 'glob' | 'regexp';

export type IgnoreRules = {
  /** A path below the folder that the rules were read in, or below a folder inside it. */
  ignores(path: string, kind: 'file' | 'folder'): boolean;
  /** With those of a folder further down. */
  within(folder: string): IgnoreRules;
  /** Lines that mean nothing, of all files read so far. */
  readonly problems: readonly { file: string; line: number; message: string }[];
  /** Files above a bound, whose rules are therefore unknown. */
  readonly refused: readonly FileLimitError[];
};

type Found = { problems: IgnoreRules['problems'][number][]; refused: FileLimitError[] };

type Level = { folder: string; decide: (path: string, kind: 'file' | 'folder') => 'out' | 'in' | undefined };

export const noRules = (syntax: IgnoreSyntax): IgnoreRules => rulesOf([], syntax, { problems: [], refused: [] });

function rulesOf(levels: readonly Level[], syntax: IgnoreSyntax, found: Found): IgnoreRules {
  return {
    ...found,
    ignores(path, kind) {
      const said = levels.flatMap(({ folder, decide }) => decide(relative(folder, path), kind) ?? []);
      // Further down is later, and the last word counts; a regular expression cannot bring anything back.
      return syntax === 'glob' ? said.at(-1) === 'out' : said.includes('out');
    },
    within(folder) {
      const file = join(folder, IGNORE_FILE);
      try {
        const text = textIfReadable('ignoreFile', file, file);
        if (text === undefined) return rulesOf(levels, syntax, found);
        const decide = syntax === 'glob' ? byGlob(text, file) : byExpression(text, file, found.problems);
        return rulesOf([...levels, { folder, decide }], syntax, found);
      } catch (error) {
        if (!(error instanceof FileLimitError)) throw error;
        found.refused.push(error);
        // The error keeps the whole repository from being compiled, so nothing is executed that was to be left out.
        return rulesOf(levels, syntax, found);
      }
    },
  };
}

/** More of them between two slashes take time that grows with the power of their number. */
const MAX_STARS = 4;

function byGlob(text: string, file: string): Level['decide'] {
  for (const [index, line] of text.split('\n').entries()) {
    const parts = line.split('/');
    const stars = Math.max(...parts.map((part) => (part.match(/\*+/g) ?? []).length));
    if (stars <= MAX_STARS && parts.filter((part) => part === '**').length <= MAX_STARS) continue;
    const message = `has a pattern with more than ${MAX_STARS} * between two slashes, or more than ${MAX_STARS} **/`;
    throw new FileLimitError({ file, line: index + 1, message, instead: 'Split the pattern into several lines' });
  }
  const matcher = ignore({ allowRelativePaths: false }).add(text);
  return (path, kind) => {
    const { ignored, unignored } = matcher.test(kind === 'folder' ? `${path}/` : path);
    return ignored ? 'out' : unignored ? 'in' : undefined;
  };
}

function byExpression(text: string, file: string, problems: IgnoreRules['problems'][number][]): Level['decide'] {
  const expressions = text.split(/\r?\n/).flatMap((written, index) => {
    const pattern = written.replace(/\s*#.*$/, '').trim();
    if (pattern === '') return [];
    try {
      // Python's flags at the beginning, and its names of groups, are all that authors' patterns have beyond ours.
      const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(pattern) ?? [];
      return [new RegExp(rest.replaceAll('(?P<', '(?<'), flags)];
    } catch (error) {
      const message = `is no regular expression: ${(error as Error).message}`;
      problems.push({ file, line: index + 1, message });
      return [];
    }
  });
  return (path) => (expressions.some((expression) => expression.test(path)) ? 'out' : undefined);
}
