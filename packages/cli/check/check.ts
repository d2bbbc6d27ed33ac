import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckReport } from './report.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { count } from '../output/wording.ts';
import { VALUES_OPTION } from '../projects/values.ts';
import type { ValuesOption } from '../projects/values.ts';
import type { SvcCommand } from '../svc-command.ts';

type Options = ValuesOption & { json?: true; html?: string; strict?: true };

export function addCheckCommand(program: SvcCommand, context: CliContext): void {
  program
    .command('check')
    .description(
      'Report how an Airflow repository runs here: what loads, what differs, what it needs, what is left to do',
    )
    .argument('[path]', 'Airflow repository, folder of DAG files, or one DAG file', '.')
    .option('--json', 'print JSON')
    .option(...VALUES_OPTION)
    .option('--html <file>', 'write the report as one page, with everything in it')
    .option('--strict', 'exit code 1 also for old spellings, packages to add, differences, and a DAG id in two files')
    .note(
      'Effort left: none; fix (svc fix does it); edit (small changes by hand); rework (parts have to be written anew).\n' +
        'Exit code 0 when every file loads and nothing is used that is gone, 1 when not, 2 for wrong usage. Needs no control plane.',
    )
    .example('an Airflow repository', 'svc check ~/airflow')
    .example('a page for the team', 'svc check ~/airflow --html report.html')
    .example('in CI', 'svc check --strict')
    .action((path: string, options: Options) => check(context, path, options));
}

async function check(context: CliContext, path: string, options: Options): Promise<void> {
  const [
    { compilePath },
    { openPython },
    { scanSpellings },
    { repositoryFiles },
    { readRequirements },
    { buildReport },
  ] = await Promise.all([
    import('../projects/compile-path.ts'),
    import('../projects/open-compiler.ts'),
    import('@svc/compiler/scan-spellings.ts'),
    import('./repository-files.ts'),
    import('./requirements.ts'),
    import('./report.ts'),
  ]);
  const where = repositoryFiles(path);
  const python = await openPython(context);
  const [units, spellings] = await Promise.all([
    compilePath(context, path, { ...options, isStrict: options.strict === true }),
    scanSpellings({ python, ...where }),
  ]);
  const report = buildReport({
    root: where.root,
    path,
    units,
    spellings,
    requirements: readRequirements(where.root),
    readText: (file) => readFileSync(join(where.root, file), 'utf8'),
  });
  if (options.html !== undefined) await writePage(context, report, options.html);
  if (options.json) printJson(context, report);
  else {
    const { printReport } = await import('./print-report.ts');
    printReport(context, report);
  }
  const failure = failureOf(report, options);
  if (failure !== undefined) throw new CliError(failure);
}

function failureOf({ totals, files }: CheckReport, { strict }: Options): string | undefined {
  const stuck = totals.files - totals.loads;
  if (stuck > 0) return `${count(stuck, 'file')} of ${totals.files} ${stuck === 1 ? 'does' : 'do'} not load`;
  if (totals.gone > 0) return `${count(totals.gone, 'use')} of what is gone`;
  if (!strict) return undefined;
  const left = files.filter(({ effort }) => effort !== 'none').length;
  if (left > 0) return `${count(left, 'file')} with something left to do`;
  const differs = totals.dags - totals.runs_as_on_airflow;
  return differs > 0 ? `${count(differs, 'DAG')} would run otherwise than on Airflow` : undefined;
}

async function writePage(context: CliContext, report: CheckReport, file: string): Promise<void> {
  const { renderPage } = await import('./render-page.ts');
  try {
    writeFileSync(file, renderPage(report, new Date()));
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`, { exitCode: EXIT.usage });
  }
  context.stderr.write(`Wrote ${file}\n`);
}
