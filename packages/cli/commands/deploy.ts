import { setTimeout as sleep } from 'node:timers/promises';
import { renderProblems } from '@svc/compiler/render-problems.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { baseRepositoryOf } from '../build/base-repository.ts';
import type { BaseRepositoryOption } from '../build/base-repository.ts';
import type { ToolName } from '../build/container-tool.ts';
import { CliError, EXIT, messageOf, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import type { DeployOptions, DeployedUnit } from '../projects/deploy-unit.ts';
import type { Ended, Job } from '../projects/run-many.ts';
import type { TriggeredRuns } from '../runs/trigger-deployed.ts';
import { listenForStop } from '../stop-signal.ts';
import type { SvcCommand } from '../svc-command.ts';
import { VALUES_OPTION } from '../projects/values.ts';
import { baseRepositoryOption, builderOption } from './compile.ts';

type Options = ClientCommandOptions &
  BaseRepositoryOption & {
    all?: true;
    build?: boolean;
    builder?: ToolName;
    values?: string;
    watch?: true;
    prune?: true;
    yes?: true;
    trigger?: true;
    unpause?: true;
    wait?: true;
  };
type Row = { name: string; dag: string; status: string; version: string; image: string };

/** One tool on one machine builds images, and registrations are short, so more at once gains nothing. */
const AT_ONCE = 4;

export function addDeployCommand(program: SvcCommand, context: CliContext): void {
  withClientOptions(program.command('deploy'))
    .description('Compile DAG projects, build and push their images, and register them with a control plane')
    .argument('[path]', 'project, Airflow repository, directory of projects, folder of DAG files, or one DAG file', '.')
    .option('--all', 'everything below the path; one that fails does not stop the others')
    .option('--build', 'build an image also where registry.url is not set; it stays on this machine then')
    .option('--no-build', 'register without an image, also where registry.url is set')
    .addOption(builderOption())
    .addOption(baseRepositoryOption())
    .option(...VALUES_OPTION)
    .option('--trigger', 'start a run of every DAG that was deployed')
    .option('--unpause', 'with --trigger: unpause the DAGs first; a new DAG is paused, and its runs wait')
    .option('--wait', 'with --trigger: wait until the runs have ended; exit code 1 when one fails')
    .option('--prune', 'then remove the DAGs that came from this path and are no longer in it; shows them and asks')
    .option('--watch', 'then stay, and deploy again what has read a variable or connection whose value changes')
    .option('-y, --yes', 'with --prune: do not ask')
    .note(
      'Deploying again is free: content that is registered already makes no new version.\nA file that does not compile is reported to the control plane, where it is shown until it is fixed.',
    )
    .example('one project', 'svc deploy daily_sales')
    .example('a whole workspace', 'svc deploy --all projects')
    .example('and see whether it runs', 'svc deploy daily_sales --trigger --unpause --wait')
    .example('and follow the variables that its files read', 'svc deploy --all projects --watch')
    .example('and remove what is no longer there', 'svc deploy --all projects --prune')
    .action((path: string, options: Options) => deploy(context, path, options));
}

async function deploy(context: CliContext, path: string, options: Options): Promise<void> {
  if (!options.trigger && (options.wait || options.unpause)) {
    throw usageError(`${options.wait ? '--wait' : '--unpause'} goes with --trigger`, 'add --trigger, or leave it out');
  }
  if (options.watch && options.json)
    throw usageError('--watch has no end, and --json prints one result', 'leave one out');
  if (options.yes && !options.prune) throw usageError('--yes goes with --prune', 'add --prune, or leave it out');
  const [{ compilePath }, report] = await Promise.all([
    import('../projects/compile-path.ts'),
    import('../projects/report-units.ts'),
  ]);
  const baseRepository = baseRepositoryOf(context.env, options);
  const client = await connect(context, options);
  // A refusal should come before the images are built.
  await client.get('/api/v2/version');
  const compile = (): Promise<CompiledUnit[]> =>
    compilePath(context, path, { client, ...(options.values !== undefined && { values: options.values }) });
  const units = await compile();
  // A repository counts as one unit, however many files it has.
  const places = new Set(units.map(({ unit }) => unit.repository?.root ?? unit.name));
  if (places.size > 1 && !options.all) {
    throw usageError(
      `${path} holds ${units.length} projects or DAG files: ${someNames(units)}`,
      'name one of them, or deploy all with --all',
    );
  }
  if (!options.json) report.printProblems(context, units);
  await reportFailures(context, client, units);
  const ended = await deployAll(context, client, units, { ...options, baseRepository });

  if (!options.json) printOutcome(context, units, ended);
  const started = options.trigger ? await triggerAll(context, client, ended, options) : undefined;
  const pruned = await prunedBy(context, { client, path, units, ended, options });
  if (options.json) {
    const results = units.map((unit) => unitResult(unit, ended));
    printJson(context, {
      server: client.server,
      units: results,
      ...(started && { runs: started.runs }),
      ...(pruned && { pruned }),
    });
  }
  if (options.watch && [...ended.values()].some(({ ok }) => ok))
    await watch(context, { client, units, ended, compile, options });
  finish(context, units, ended, options);
  if (started?.failure !== undefined) throw started.failure;
}

async function watch(
  context: CliContext,
  input: {
    client: Client;
    units: readonly CompiledUnit[];
    ended: Outcomes;
    compile: () => Promise<CompiledUnit[]>;
    options: Options;
  },
): Promise<void> {
  const { client, units, ended, compile, options } = input;
  const { watchDeployed } = await import('../projects/watch-deployed.ts');
  const imagesOfBefore = new Map(
    [...ended].flatMap(([unit, end]) => (end.ok ? [[unit.unit.name, end.result.dags[0]?.image ?? undefined]] : [])),
  );
  context.stderr.write('svc: watching the values that DAG files have read; Ctrl-C ends it\n');
  const stop = listenForStop();
  const ending = new AbortController();
  void stop.requested.then(() => ending.abort());
  try {
    await watchDeployed({
      client,
      units: units.filter((unit) => ended.get(unit)?.ok === true),
      compile,
      async deploy(changed) {
        printOutcome(context, changed, await deployAll(context, client, changed, { ...options, imagesOfBefore }));
      },
      warn: (message) => warn(context, message),
      pause: (milliseconds) => sleep(milliseconds, false, { signal: ending.signal }).catch(() => true),
    });
  } finally {
    stop.dispose();
  }
}

/**
 * Deletes the DAGs that are gone. Returns undefined without `--prune`, and if a file failed, because its DAGs are then
 * unknown.
 */
async function prunedBy(
  context: CliContext,
  input: {
    client: Client;
    path: string;
    units: readonly CompiledUnit[];
    ended: Outcomes;
    options: Options;
  },
): Promise<string[] | undefined> {
  const { units, ended, options } = input;
  if (!options.prune || !units.every((unit) => ended.get(unit)?.ok === true)) return undefined;
  const { pruneDeployed } = await import('../projects/prune-deployed.ts');
  return pruneDeployed(context, input);
}

async function triggerAll(
  context: CliContext,
  client: Client,
  outcomes: Outcomes,
  options: Options,
): Promise<TriggeredRuns> {
  const { triggerDeployed } = await import('../runs/trigger-deployed.ts');
  const deployed = [...outcomes.values()].flatMap((ended) => (ended.ok ? ended.result.dags : []));
  return triggerDeployed(context, { client, dagIds: deployed.map(({ dag_id: dagId }) => dagId), options });
}

const someNames = (units: readonly CompiledUnit[]): string => {
  const names = units.map(({ unit }) => unit.name);
  return names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;
};

/**
 * Reports failures to the control plane, which shows them next to the DAG. The DAG still runs in its last working
 * version.
 */
async function reportFailures(context: CliContext, client: Client, units: readonly CompiledUnit[]): Promise<void> {
  const { createHttpRegistrar } = await import('../projects/http-registrar.ts');
  const registrar = createHttpRegistrar(client);
  for (const unit of units) {
    if (unit.ok) continue;
    const file = { bundleName: unit.bundleName, filename: unit.source };
    await registrar.reportError({ ...file, stackTrace: renderProblems(unit.problems) }).catch((error: unknown) => {
      warn(context, `the problems of ${unit.unit.name} could not be reported to ${client.server}: ${messageOf(error)}`);
    });
  }
}

type Outcomes = ReadonlyMap<CompiledUnit, Ended<DeployedUnit>>;

async function deployAll(
  context: CliContext,
  client: Client,
  units: readonly CompiledUnit[],
  options: Options & Pick<DeployOptions, 'imagesOfBefore'>,
): Promise<Outcomes> {
  const [{ deployUnit }, { createHttpRegistrar, nextVersionOf }, { runMany }] = await Promise.all([
    import('../projects/deploy-unit.ts'),
    import('../projects/http-registrar.ts'),
    import('../projects/run-many.ts'),
  ]);
  const registrar = createHttpRegistrar(client);
  const repositoryImages: DeployOptions['repositoryImages'] = new Map();
  const stop = listenForStop();
  const stopping = new AbortController();
  void stop.requested.then(() => stopping.abort(new CliError('interrupted', { exitCode: EXIT.interrupted })));
  const good = units.filter((unit) => unit.ok);
  const jobs = good.map((unit): Job<DeployedUnit> => ({
    title: unit.unit.name,
    run: (say) => {
      stopping.signal.throwIfAborted();
      return deployUnit(context, unit, {
        registrar,
        nextVersion: (dagId) => nextVersionOf(client, dagId),
        build: options.build,
        builder: options.builder,
        baseRepository: options.baseRepository,
        repositoryImages,
        imagesOfBefore: options.imagesOfBefore,
        say,
        signal: stopping.signal,
      });
    },
    outcome: ({ dags }) => dags.map(outcomeText).join(', ') || 'no DAG in it',
  }));
  try {
    const ended = await runMany(context, { jobs, atOnce: AT_ONCE, plain: options.json === true });
    return new Map(good.flatMap((unit, index) => (ended[index] ? [[unit, ended[index]] as const] : [])));
  } finally {
    stop.dispose();
  }
}

const outcomeText = ({ dag_id: dagId, status, version_number: number }: DeployedUnit['dags'][number]): string =>
  status === 'created' ? `${dagId} v${number} registered` : `${dagId} v${number} unchanged`;

function unitResult(unit: CompiledUnit, outcomes: Outcomes) {
  const ended = outcomes.get(unit);
  const problems = unit.ok ? [] : unit.problems.map(({ traceback: _long, ...problem }) => problem);
  return {
    name: unit.unit.name,
    ok: ended?.ok === true,
    dags: ended?.ok ? ended.result.dags : [],
    problems,
    error: ended?.ok === false ? messageOf(ended.error) : null,
    warnings: [...unit.warnings.map(({ message }) => message), ...(ended?.ok ? ended.result.warnings : [])],
  };
}

function printOutcome(context: CliContext, units: readonly CompiledUnit[], outcomes: Outcomes): void {
  const rows = units.flatMap((unit): Row[] => {
    const ended = outcomes.get(unit);
    const { name } = unit.unit;
    if (ended?.ok !== true) return [{ name, dag: unit.bundleName, status: 'failed', version: '', image: '' }];
    for (const warning of ended.result.warnings) warn(context, `${name}: ${warning}`);
    return ended.result.dags.map(({ dag_id: dag, status, version_number: number, image }) => {
      return { name, dag, status, version: `v${number}`, image: image ?? '' };
    });
  });
  if (rows.length === 0) return;
  printTable(context.stdout, {
    columns: [
      { title: 'FROM', value: (row) => row.name },
      { title: 'DAG', value: (row) => row.dag },
      { title: 'STATUS', value: (row) => row.status },
      { title: 'VERSION', value: (row) => row.version },
      ...(rows.some((row) => row.image !== '') ? [{ title: 'IMAGE', value: (row: Row) => row.image }] : []),
    ],
    rows,
  });
}

/** A single failure is thrown unchanged. Several failures are printed one by one and then counted. */
function finish(context: CliContext, units: readonly CompiledUnit[], outcomes: Outcomes, options: Options): void {
  const errors = [...outcomes.entries()].flatMap(([unit, ended]) => (ended.ok ? [] : [{ unit, error: ended.error }]));
  const failed = errors.length + units.filter((unit) => !unit.ok).length;
  if (failed === 0) return;
  const [only] = errors;
  if (only && units.length === 1) throw only.error;
  const interrupted = errors.find(({ error }) => error instanceof CliError && error.exitCode === EXIT.interrupted);
  if (interrupted) throw interrupted.error;
  for (const { unit, error } of options.json ? [] : errors) {
    const hint = error instanceof CliError && error.hint !== undefined ? `\n  ${error.hint}` : '';
    context.stderr.write(`${unit.unit.name}: ${printable(messageOf(error) + hint)}\n`);
  }
  throw new CliError(
    units.length === 1
      ? 'nothing was deployed: fix the problems above'
      : `${failed} of ${units.length} were not deployed`,
  );
}
