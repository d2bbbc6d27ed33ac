/**
 * `.airflowignore`: what of a DAGs folder is not looked at. Each file counts for its own folder and all below it.
 *
 *   glob      as .gitignore: the last line that matches decides, and `!` brings back
 *   regexp    a line found anywhere in the path, relative to the folder of the file, leaves it out
 */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import ignore from 'ignore';

export const IGNORE_FILE = '.airflowignore';
export type IgnoreSyntax = 'glob' | 'regexp';

export type IgnoreRules = {
  /** A path below the folder that the rules were read in, or below a folder inside it. */
  ignores(path: string, kind: 'file' | 'folder'): boolean;
  /** With those of a folder further down. */
  within(folder: string): Promise<IgnoreRules>;
  /** Lines that mean nothing, of all files read so far. */
  readonly problems: readonly { file: string; line: number; message: string }[];
};

type Level = { folder: string; decide: (path: string, kind: 'file' | 'folder') => 'out' | 'in' | undefined };

export const noRules = (syntax: IgnoreSyntax): IgnoreRules => rulesOf([], syntax, []);

function rulesOf(
  levels: readonly Level[],
  syntax: IgnoreSyntax,
  problems: IgnoreRules['problems'][number][],
): IgnoreRules {
  return {
    problems,
    ignores(path, kind) {
      const said = levels.flatMap(({ folder, decide }) => decide(relative(folder, path), kind) ?? []);
      // Further down is later, and the last word counts; a regular expression cannot bring anything back.
      return syntax === 'glob' ? said.at(-1) === 'out' : said.includes('out');
    },
    async within(folder) {
      const file = join(folder, IGNORE_FILE);
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) return rulesOf(levels, syntax, problems);
      const decide = syntax === 'glob' ? byGlob(text) : byExpression(text, file, problems);
      return rulesOf([...levels, { folder, decide }], syntax, problems);
    },
  };
}

function byGlob(text: string): Level['decide'] {
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
