import { CliError } from '../cli-error.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { styled } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { count } from '../output/wording.ts';
import { ask, canAsk } from '../prompt.ts';
import type { SvcCommand } from '../svc-command.ts';
import type { FileSpellings } from '@svc/compiler/scan-spellings.ts';

type Options = { write?: true; check?: true; json?: true };

export function addFixCommand(program: SvcCommand, context: CliContext): void {
  program
    .command('fix')
    .description('Rewrite Airflow 1 and 2 spellings (imports, arguments, context names) to those of Airflow 3')
    .argument('[path]', 'directory of DAG files, or one file', '.')
    .option('--write', 'rewrite the files without asking')
    .option('--check', 'change nothing; exit code 1 when something would be rewritten')
    .option('--json', 'print JSON; changes nothing without --write')
    .note(
      'Shows a diff and asks. Only the old words change: everything else, comments and line ends included, stays as it is.\n' +
        'What could mean something else is not touched but named with its line. Files are read, never run.',
    )
    .example('what would change', 'svc fix dags')
    .example('do it', 'svc fix dags --write')
    .example('in CI', 'svc fix --check')
    .action((path: string, options: Options) => fix(context, path, options));
}

async function fix(context: CliContext, path: string, options: Options): Promise<void> {
  const [{ repositoryFiles }, { openPython }, { scanSpellings }] = await Promise.all([
    import('./repository-files.ts'),
    import('../projects/open-compiler.ts'),
    import('@svc/compiler/scan-spellings.ts'),
  ]);
  const python = await openPython(context);
  const where = repositoryFiles(path);
  const scan = (write: boolean) => scanSpellings({ python, ...where, write });
  let files = await scan(options.write === true && options.check !== true);
  const changed = files.filter((file) => file.changed);
  let isWritten = options.write === true && options.check !== true;
  if (options.json) {
    printJson(context, { written: isWritten, files: files.filter(isWorthTelling).map(fileJson) });
  } else {
    for (const file of changed) printDiff(context, file.diff);
    if (!isWritten && options.check !== true && changed.length > 0 && canAsk(context)) {
      const answer = await ask(context, `Rewrite ${count(changed.length, 'file')}? [y/N] `);
      if (/^y(es)?$/i.test(answer.trim())) {
        files = await scan(true);
        isWritten = true;
      }
    }
    printLeft(context, files);
    printSummary(context, { files, changed, isWritten, options });
  }
  const broken = files.filter(({ error }) => error !== null);
  if (broken.length > 0) throw new CliError(`${count(broken.length, 'file')} could not be looked at or written`);
  if (options.check && changed.length > 0) {
    throw new CliError(`${count(changed.length, 'file')} would be rewritten`, { hint: `run: svc fix ${path} --write` });
  }
}

const isWorthTelling = (file: FileSpellings): boolean => file.findings.length > 0 || file.error !== null;

const fileJson = ({ path, changed, findings, left, diff, error }: FileSpellings) => ({
  path,
  changed,
  findings,
  left,
  diff,
  error,
});

function printDiff({ stdout }: CliContext, diff: string): void {
  for (const line of diff.split('\n').slice(0, -1)) {
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : line.startsWith('@') ? 'cyan' : null;
    const text = printable(line);
    stdout.write(`${style === null ? text : styled(stdout, style, text)}\n`);
  }
}

/** What only a person can change, as compilers print it. */
function printLeft({ stderr }: CliContext, files: readonly FileSpellings[]): void {
  for (const { path, left, error } of files) {
    if (error !== null) stderr.write(`${printable(path)}: ${styled(stderr, 'red', 'error:')} ${printable(error)}\n`);
    for (const { line, column, message } of left.filter(({ fixable }) => !fixable)) {
      const label = styled(stderr, 'yellow', 'by hand:');
      stderr.write(`${printable(path)}:${line}:${column}: ${label} ${printable(message)}\n`);
    }
  }
}

function printSummary(
  { stdout }: CliContext,
  input: { files: readonly FileSpellings[]; changed: readonly FileSpellings[]; isWritten: boolean; options: Options },
): void {
  const { files, changed, isWritten, options } = input;
  const byHand = files.reduce((sum, { left }) => sum + left.filter(({ fixable }) => !fixable).length, 0);
  const hand = byHand === 0 ? '' : ` ${count(byHand, 'place')} to change by hand.`;
  if (changed.length === 0) stdout.write(`${count(files.length, 'file')}: nothing to rewrite.${hand}\n`);
  else if (isWritten) stdout.write(`Rewrote ${count(changed.length, 'file')}.${hand}\n`);
  else if (options.check !== true) {
    stdout.write(`${count(changed.length, 'file')} would be rewritten: run again with --write.${hand}\n`);
  }
}
