/** `svc test`: a DAG or a task runs on this machine, and nothing is stored. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import { CliError, messageOf, usageError } from '../cli-error.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { collect, confOf, parseMoment, withConfOptions } from '../runs/run-options.ts';
import type { ConfOptions } from '../runs/run-options.ts';
import type { SvcCommand } from '../svc-command.ts';
import { parseIndex, readAnswers, readXcoms } from './given-values.ts';
import type { Debugger } from './run-locally.ts';

type Options = ConfOptions & {
  path: string;
  mapIndex?: number;
  xcom: string[];
  answer: string[];
  at?: string;
  connections?: string;
  variables?: string;
  debug?: Debugger | true;
  watch?: true;
  json?: true;
};

export function addTestCommand(program: SvcCommand, context: CliContext): void {
  const command = program
    .command('test')
    .description('Run a DAG or one of its tasks on this machine, without a control plane; nothing is stored')
    .argument('<dag>', 'DAG id, or a DAG file')
    .argument('[task]', 'run only this task, as if all tasks before it had succeeded')
    .option('--path <path>', 'where the DAG is: a project, an Airflow repository, or a folder of DAG files', '.')
    .option('--map-index <number>', 'run only this instance of a mapped task', parseIndex);
  withConfOptions(command)
    .option(
      '--xcom <task=value>',
      'the value of a task that does not run; "task:key=value" gives it a key; may be repeated. JSON where it reads as JSON, else text',
      collect,
      [],
    )
    .option('--at <time>', 'logical date of the run; without a time zone in UTC (default: now)', parseMoment)
    .option('--connections <file>', 'connections: JSON, YAML, or .env with lines NAME=URI')
    .option('--variables <file>', 'variables, in the same formats')
    .option('--answer <task=option>', 'what a person answers to this task; may be repeated', collect, [])
    .addOption(
      new Option('--debug [debugger]', 'open a debugger at the line of the DAG file that fails').choices([
        'pdb',
        'debugpy',
      ]),
    )
    .option('--watch', 'stay, and run again after each change of a file; Ctrl-C ends it')
    .option('--json', 'print JSON')
    .note(
      'Tasks run one at a time in one process, with the packages of the project. Their logs go to standard error.\n' +
        'Retries start at once, and not at all with --debug; sensors and deferred tasks wait. The exit code is 0 when the run, or the task, succeeds.',
    )
    .example('a whole run', 'svc test daily_sales')
    .example('one task, with a value of the task before it', `svc test daily_sales load --xcom 'transform={"tea": 7}'`)
    .example('stop where it fails', 'svc test dags/sales.py load --debug')
    .action((dag: string, task: string | undefined, options: Options) => testCommand(context, { dag, task }, options));
}

type Named = { dag: string; task: string | undefined };

async function testCommand(context: CliContext, named: Named, options: Options): Promise<void> {
  if (options.watch && options.json) throw usageError('--watch has no end, and --json prints one result');
  if (options.debug && options.json) throw usageError('--debug needs the terminal, and --json prints one result');
  if (options.mapIndex !== undefined && named.task === undefined) {
    throw usageError('--map-index needs the name of a task', `svc test ${named.dag} <task> --map-index 0`);
  }
  const conf = await confOf(context, options);
  if (!options.watch) return testOnce(context, named, options, conf);
  const { runAtChanges } = await import('./run-at-changes.ts');
  await runAtChanges(context, resolve(options.path), () => testOnce(context, named, options, conf));
}

async function testOnce(
  context: CliContext,
  { dag: name, task }: Named,
  options: Options,
  conf: Record<string, unknown>,
): Promise<void> {
  const [{ findDag, pythonOf }, { runLocally }, { failureOf, printResult }] = await Promise.all([
    import('./find-dag.ts'),
    import('./run-locally.ts'),
    import('./print-result.ts'),
  ]);
  const dag = await findDag(context, name, { path: options.path });
  if (task !== undefined && !dag.taskIds.includes(task)) {
    throw new CliError(`${dag.dagId} has no task ${task}`, { hint: `its tasks are: ${dag.taskIds.join(', ')}` });
  }
  const { debug } = options;
  const result = await runLocally(context, {
    python: await pythonOf(context, dag.dependencies),
    env: dag.env,
    order: {
      path: dag.path,
      root: dag.root,
      bundle: dag.bundle,
      dag_id: dag.dagId,
      task_id: task ?? null,
      map_index: options.mapIndex ?? null,
      conf,
      xcoms: readXcoms(options.xcom, dag.taskIds),
      at: options.at ?? null,
      connections: fileOf(options.connections),
      variables: fileOf(options.variables),
      answers: readAnswers(options.answer, dag.taskIds),
      asks: false,
      debugger: debug === undefined ? null : debug === true ? 'pdb' : debug,
      files: {},
      recorded: null,
    },
  });
  if (options.json) printJson(context, result);
  else printResult(context, result);
  const failure = failureOf(result);
  if (!failure) return;
  if (options.watch) warn(context, messageOf(failure));
  else throw failure;
}

const fileOf = (path: string | undefined): string | null => (path === undefined ? null : resolve(path));
