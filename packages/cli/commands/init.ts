import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { CliError, messageOf, systemCode, usageError } from '../cli-error.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { TEMPLATES } from '../projects/template-names.ts';
import type { Template } from '../projects/template-names.ts';
import { projectFiles } from '../projects/templates.ts';
import type { SvcCommand } from '../svc-command.ts';

type Options = { template: Template; dbt?: true; json?: true };

/** Characters that svc.yaml refuses in an id; see packages/spec/ids.ts. */
const NOT_IN_AN_ID = /[^A-Za-z0-9_-]+/g;
const LONGEST_ID = 200;

export function addInitCommand(program: SvcCommand, context: CliContext): void {
  program
    .command('init')
    .description('Make a new DAG project')
    .argument('[directory]', 'where; its name becomes the DAG id', '.')
    .addOption(new Option('--template <name>', 'what to start from').choices(TEMPLATES).default('hello'))
    .option('--dbt', 'the same as --template dbt: a small dbt project on DuckDB')
    .option('--json', 'print JSON')
    .note('Files that exist are kept as they are, so an existing dag.py can be made a project.')
    .example('a first DAG', 'svc init my_dag && svc validate my_dag')
    .example('a dbt project, run here', 'svc init --dbt shop && svc lite .')
    .action((directory: string, options: Options) => init(context, directory, options));
}

function init(context: CliContext, directory: string, { template: named, dbt, json }: Options): void {
  const template = dbt ? 'dbt' : named;
  const path = resolve(directory);
  const dagId = dagIdOf(path);
  if (existsSync(join(path, 'svc.yaml'))) {
    throw new CliError(`${path} is a DAG project already: it has a svc.yaml`, {
      hint: 'name another directory, or change that file',
    });
  }
  const files = Object.entries(projectFiles(template, dagId)).map(([name, text]) => ({
    name,
    isNew: writeNew(join(path, name), text),
  }));
  const made = files.filter((file) => file.isNew).map((file) => file.name);
  const kept = files.filter((file) => !file.isNew).map((file) => file.name);
  if (json) {
    printJson(context, { directory: path, dag_id: dagId, made, kept });
    return;
  }
  const shown = relative(process.cwd(), path) || '.';
  const place = shown.startsWith('..') ? path : shown;
  const word = /^[\w./-]+$/.test(place) ? place : `'${place.replaceAll("'", String.raw`'\''`)}'`;
  context.stdout.write(
    [
      `Made the DAG project ${dagId} in ${path}: ${made.join(', ')}`,
      ...(kept.length > 0 ? [`Kept what was there: ${kept.join(', ')}`] : []),
      '',
      'Next:',
      `  svc validate ${word}   # does it compile?`,
      `  svc test ${dagId} --path ${word}   # run it here, without a control plane`,
      `  svc deploy ${word}     # register it with the control plane ("svc lite" starts one here)`,
      '',
    ].join('\n'),
  );
}

function dagIdOf(path: string): string {
  const id = basename(path).replaceAll(NOT_IN_AN_ID, '_').replace(/^-+/, '').slice(0, LONGEST_ID);
  if (/[A-Za-z0-9]/.test(id)) return id;
  throw usageError(
    `the directory ${path} has no name that could be a DAG id`,
    'name one with letters or digits, such as my_dag',
  );
}

/** Returns false if the file exists. It is never overwritten, not even by two concurrent commands. */
function writeNew(path: string, text: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST' && existsSync(path)) return false;
    throw new CliError(`${path} cannot be written: ${messageOf(error)}`);
  }
}
