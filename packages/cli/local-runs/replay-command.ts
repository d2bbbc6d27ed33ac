/** `svc replay`: a try of a control plane runs again on this machine, with its source and its inputs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { connectorPackages } from '@svc/spec/project/connectors.ts';
import type { DagRun } from '@svc/client/wire-types.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';
import { parseCount } from '../runs/run-options.ts';
import type { SvcCommand } from '../svc-command.ts';
import { parseIndex } from './given-values.ts';
import type { RecordedTry } from './recorded-try.ts';
import type { AnswerSecret, Debugger, LocalOrder } from './run-locally.ts';
import { secretsOf } from './production-secrets.ts';

type Options = ClientCommandOptions & {
  mapIndex?: number;
  try?: number;
  path: string;
  connections?: string;
  variables?: string;
  edit?: true;
  plan?: true;
  production?: true;
  toTest?: true;
  debug?: Debugger | true;
};

export function addReplayCommand(program: SvcCommand, context: CliContext): void {
  const command = program
    .command('replay')
    .description('Run a try of a control plane again on this machine, with its source, conf, dates and values')
    .argument('<dag-id>', 'id of the DAG')
    .argument('[run-id]', 'id of the run (default: the newest)')
    .argument('[task-id]', 'id of the task (default: the one that failed first; with --plan: all)')
    .option('--map-index <number>', 'which instance of a mapped task', parseIndex)
    .option('--try <number>', 'which try (default: the latest)', parseCount)
    .option('--path <path>', 'working copy: has the modules of the DAG file when the control plane has no commit', '.')
    .option('--connections <file>', 'connections: JSON, YAML, or .env with lines NAME=URI')
    .option('--variables <file>', 'variables, in the same formats')
    .option(
      '--production',
      'ask the control plane for connections and variables that no file has; needs use:secret, and is audited',
    )
    .option('--edit', 'run the DAG of the working copy in place of the version that ran')
    .option('--to-test', 'write a test of pytest with these inputs into tests/ of the working copy, and run nothing')
    .option('--plan', 'run no task: decide the run again in virtual time, and print what each end has caused')
    .addOption(
      new Option('--debug [debugger]', 'open a debugger at the line of the DAG file that fails').choices([
        'pdb',
        'debugpy',
      ]),
    );
  withClientOptions(command)
    .note(
      'Connections and variables come from the files named here and from the environment. The control plane gives them only with --production.\n' +
        'Values that you may not read are masked. The command names them. The exit code is 0 when the task succeeds.',
    )
    .example('the latest try of a failed task', 'svc replay daily_sales manual__2026-03-02T06:00:00+00:00 load')
    .example('with a change that should repair it', 'svc replay daily_sales my-run load --edit --path dags')
    .example('why a task was skipped', 'svc replay daily_sales my-run publish --plan')
    .action((dagId: string, runId: string | undefined, taskId: string | undefined, options: Options) => {
      const named = { dagId, runId, taskId };
      return options.plan ? planAgain(context, named, options) : replay(context, named, options);
    });
}

type Named = { dagId: string; runId: string | undefined; taskId: string | undefined };

async function planAgain(context: CliContext, named: Named, options: Options): Promise<void> {
  const other = (['edit', 'toTest', 'debug', 'try', 'mapIndex', 'production'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (other !== undefined)
    throw usageError('--plan runs no task', 'leave out the options of a try, or leave out --plan');
  const { replayPlan } = await import('./replay-plan.ts');
  const client = await connect(context, options);
  const run = await namedRun(context, client, { ...named, options });
  await replayPlan(context, client, { run, taskId: named.taskId, json: options.json === true });
}

async function namedRun(
  context: CliContext,
  client: Client,
  { dagId, runId, options }: { dagId: string; runId: string | undefined; options: Options },
): Promise<DagRun> {
  const { runToReplay } = await import('./without-run.ts');
  return runToReplay(context, client, { dagId, runId, path: options.path, json: options.json === true });
}

async function replay(context: CliContext, named: Named, options: Options): Promise<void> {
  if (options.debug && options.json) throw usageError('--debug needs the terminal, and --json prints one result');
  const [{ findTask }, { readTry }, { workingCopyAt }, { fetchVersionTree }] = await Promise.all([
    import('./find-try.ts'),
    import('./recorded-try.ts'),
    import('./version-files.ts'),
    import('./version-tree.ts'),
  ]);
  const client = await connect(context, options);
  const run = await namedRun(context, client, { ...named, options });
  const { taskId, mapIndex, note } = await findTask(client, run, { ...named, mapIndex: options.mapIndex });
  if (note !== null) context.stderr.write(`svc: ${printable(note)}\n`);
  const recorded = await readTry(client, {
    run,
    taskId,
    mapIndex,
    ...(options.try !== undefined && { tryNumber: options.try }),
  });
  describeTry(context, taskId, recorded);
  const workingCopy = workingCopyAt(options.path, recorded.spec);
  if (options.toTest) {
    const { writeReplayTest } = await import('./replay-test.ts');
    const file = writeReplayTest(recorded, { taskId, workingCopy });
    if (options.json) printJson(context, { file, masked: recorded.masked, uncertain: recorded.uncertain });
    else context.stdout.write(`Wrote ${relative(process.cwd(), file)}\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-replay-'));
  try {
    const answerSecret = options.production && secretsOf(context, client, { recorded, taskId });
    const tree = options.edit ? undefined : await fetchVersionTree(context, client, recorded);
    await runAgain(context, taskId, { recorded, options, workingCopy, folder, tree, answerSecret });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describeTry(context: CliContext, taskId: string, recorded: RecordedTry): void {
  const { run, tryNumber, mapIndex, state, failure, versionNumber, masked, uncertain, described } = recorded;
  const name = mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;
  const ended = failure === null ? (state ?? 'not ended') : `${state}: ${failure}`;
  const what = `try ${tryNumber} of ${name} in ${run.dag_run_id}, version ${versionNumber}: ${ended}`;
  context.stderr.write(`svc: replaying ${printable(what)}\n`);
  if (masked.length > 0) warn(context, `you may not read these values, which are masked: ${masked.join(', ')}`);
  if (described.length > 0) {
    warn(
      context,
      `these values are too large for the API, and a description is in their place: ${described.join(', ')}`,
    );
  }
  if (uncertain.length > 0) {
    warn(context, `these values were written after the try, which may have seen others: ${uncertain.join(', ')}`);
  }
}

async function runAgain(
  context: CliContext,
  taskId: string,
  {
    recorded,
    options,
    workingCopy,
    folder,
    tree,
    answerSecret,
  }: {
    recorded: RecordedTry;
    options: Options;
    workingCopy: string;
    folder: string;
    /** The files of its commit, if the control plane has them. */
    tree: string | undefined;
    answerSecret: AnswerSecret | undefined;
  },
): Promise<void> {
  const [{ runLocally }, { failureOf, printResult }, { pythonOf }, { endOf }, { differenceText, renderedDifferences }] =
    await Promise.all([
      import('./run-locally.ts'),
      import('./print-result.ts'),
      import('./find-dag.ts'),
      import('./end-of-process.ts'),
      import('./rendered-differences.ts'),
    ]);
  const { debug } = options;
  const dag = options.edit
    ? await ofWorkingCopy(context, recorded, resolve(options.path))
    : await ofVersion(recorded, { workingCopy, folder, tree, taskId });
  const { run } = recorded;
  const order: LocalOrder = {
    path: dag.path,
    root: dag.root,
    bundle: dag.bundle,
    dag_id: run.dag_id,
    task_id: taskId,
    map_index: recorded.mapIndex < 0 ? null : recorded.mapIndex,
    conf: recorded.conf,
    xcoms: recorded.xcoms,
    at: null,
    connections: options.connections === undefined ? null : resolve(options.connections),
    variables: options.variables === undefined ? null : resolve(options.variables),
    answers: {},
    asks: answerSecret !== undefined,
    debugger: debug === undefined ? null : debug === true ? 'pdb' : debug,
    files: Object.fromEntries(dag.files.map(({ path, text }) => [path, text])),
    // The working copy may have other params and limits.
    recorded: options.edit ? { ...recorded.context, params: null, limits: null } : recorded.context,
  };
  const python = await pythonOf(context, dag.dependencies);
  const result = await runLocally(context, {
    python,
    env: dag.env,
    order,
    cwd: dag.root,
    ...(answerSecret && { answerSecret }),
  }).catch((error: unknown) => endOf(error, recorded, taskId));
  const differences = options.edit ? [] : renderedDifferences(recorded.rendered, result.tasks[0]);
  if (options.json) {
    const { masked, uncertain } = recorded;
    printJson(context, { ...result, masked, uncertain, rendered_differences: differences });
  } else {
    printResult(context, result);
    for (const one of differences) warn(context, differenceText(one));
  }
  const failure = failureOf(result);
  if (failure) throw failure;
}

type Runnable = {
  path: string;
  root: string;
  bundle: object | null;
  env: Readonly<Record<string, string>>;
  dependencies: readonly string[];
  files: CompiledSpec['files'];
};

async function ofWorkingCopy(context: CliContext, { run }: RecordedTry, workingCopy: string): Promise<Runnable> {
  const { findDag } = await import('./find-dag.ts');
  return { ...(await findDag(context, run.dag_id, { path: workingCopy })), files: [] };
}

async function ofVersion(
  { spec, text }: RecordedTry,
  {
    workingCopy,
    folder,
    tree,
    taskId,
  }: { workingCopy: string; folder: string; tree: string | undefined; taskId: string },
): Promise<Runnable> {
  const { writeVersion } = await import('./version-files.ts');
  const {
    dependencies = [],
    connectors = [],
    env = {},
  } = (spec.project ?? {}) as {
    dependencies?: string[];
    connectors?: string[];
    env?: Record<string, string>;
  };
  const path = tree === undefined ? writeVersion(folder, { spec, text, workingCopy }) : join(tree, spec.source.path);
  return {
    path,
    root: tree ?? folder,
    bundle: spec.source.bundle ?? null,
    env: {
      ...env,
      ...spec.tasks.find(({ task_id: id }) => id === taskId)?.env,
      // Other replays and agents share the files of a commit.
      ...(tree !== undefined && { PYTHONDONTWRITEBYTECODE: '1' }),
    },
    dependencies: [...dependencies, ...connectorPackages(connectors)],
    files: spec.files,
  };
}
