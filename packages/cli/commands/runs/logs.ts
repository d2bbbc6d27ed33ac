import { setTimeout as sleep } from 'node:timers/promises';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { failureText } from '@svc/spec/failure-causes.ts';
import { isFinished, isRunFinished } from '@svc/spec/states.ts';
import { CliError, EXIT, usageError } from '../../cli-error.ts';
import type { Client } from '../../client/client.ts';
import { withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import type { CliContext } from '../../context.ts';
import { printable } from '../../output/text.ts';
import { inOrder, instanceName, stateText } from '../../runs/fields.ts';
import { findRun } from '../../runs/find-run.ts';
import { untilStopped } from '../../runs/follow-run.ts';
import { lastingClient } from '../../runs/lasting-client.ts';
import { copyLog, followLog } from '../../runs/read-log.ts';
import type { LogRequest } from '../../runs/read-log.ts';
import { parseCount } from '../../runs/run-options.ts';
import { instancesOf } from '../../runs/watch-run.ts';
import type { SvcCommand } from '../../svc-command.ts';
import { chosenInstances, noSuchTask } from './show-task.ts';

type Options = ClientCommandOptions & {
  task?: string;
  try?: number;
  follow?: true;
  tail?: number;
  search?: string;
};

const LOOK_EVERY_MS = 500;

export function addRunsLogsCommand(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('logs'))
    .description('Print the log of a task; by default of the one that failed last')
    .argument('<dag-id>', 'id of the DAG')
    .argument('[run-id]', 'id of the run (default: the newest)')
    .option(
      '--task <task-id>',
      'the task, or one instance of it as task[3] (default: what failed last, else what runs)',
    )
    .option('--try <number>', 'which try (default: the latest)', parseCount)
    .option('-f, --follow', 'go on with what is written, until the try has ended')
    .option('--tail <lines>', 'only the last lines', parseCount)
    .option('--search <text>', 'only lines with this text, in any letter case, with their numbers')
    .note('The log goes to standard output and whose it is to standard error. --json prints a record per line.')
    .example('why the newest run failed', 'svc runs logs daily_sales')
    .example('what a task is doing', 'svc runs logs daily_sales my-run --task load --follow')
    .action((dagId: string, runId: string | undefined, options: Options) => logs(context, dagId, runId, options));
}

async function logs(context: CliContext, dagId: string, runId: string | undefined, options: Options): Promise<void> {
  if (options.search !== undefined && (options.follow || options.tail !== undefined)) {
    throw usageError('--search looks at what is there: leave out --follow and --tail');
  }
  const clientOf = await lastingClient(context, options);
  const client = await clientOf();
  const run = await findRun(client, dagId, runId);
  await untilStopped('the task goes on', async (signal) => {
    const instance = await instanceToRead({ context, clientOf, run, options, signal });
    const tryNumber = options.try ?? instance.try_number;
    const request: LogRequest = {
      run,
      instance,
      tryNumber,
      tail: options.tail,
      search: options.search,
      isNdjson: options.json === true,
    };
    const title = `${instanceName(instance)}, try ${tryNumber} of run ${run.dag_run_id}`;
    const isLatest = tryNumber === instance.try_number;
    if (!options.json) {
      context.stderr.write(`${printable(`${title}${isLatest ? `: ${stateText(instance.state)}` : ''}`)}\n`);
    }
    if (!options.follow) {
      await copyLog(await clientOf(), request, context.stdout);
      return;
    }
    const onOutage = (error: CliError): void => void context.stderr.write(`${error.message}: trying again\n`);
    await followLog({ clientOf, request, output: context.stdout, onOutage, signal });
  });
}

/** Returns the instance to read. With --follow, it waits for a task that has not started yet. */
async function instanceToRead(input: {
  context: CliContext;
  clientOf: () => Promise<Client>;
  run: DagRun;
  options: Options;
  signal: AbortSignal;
}): Promise<TaskInstance> {
  const { context, clientOf, run, options, signal } = input;
  for (let isFirst = true; ; isFirst = false) {
    const client = await clientOf();
    // The run is read first. If it has ended, no task will start any more.
    const path = { dag_id: run.dag_id, dag_run_id: run.dag_run_id };
    const { state } = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path });
    const all = await instancesOf(client, run);
    const found = options.task === undefined ? mostTelling(all) : namedInstance(run, all, options.task);
    if (found !== undefined && hasLog(found, options)) return found;
    const mayStart = !isRunFinished(state) && (found === undefined || !isFinished(found.state));
    if (!options.follow || !mayStart) throw nothingToRead(run, all, found);
    if (isFirst) context.stderr.write(`${printable(waitText(found))}\n`);
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

/** An earlier try may have a log although the latest one has not started. */
const hasLog = (instance: TaskInstance, options: Options): boolean => (options.try ?? instance.try_number) > 0;

const waitText = (found: TaskInstance | undefined): string =>
  found === undefined
    ? 'No task has started yet.'
    : `${instanceName(found)} has not started yet: ${found.wait_reason ?? stateText(found.state)}.`;

const endOf = ({ end_date: end }: TaskInstance): number => (end === null ? 0 : Date.parse(end));

/** Returns the task that failed last. Without one, it returns the latest one that is being tried. */
export function mostTelling(all: readonly TaskInstance[]): TaskInstance | undefined {
  const tried = inOrder(all.filter((instance) => instance.try_number > 0));
  const failed = tried.filter(({ state }) => state === 'failed').toSorted((a, b) => endOf(b) - endOf(a));
  return (
    failed[0] ??
    tried.findLast(({ state }) => state === 'running') ??
    tried.findLast(({ state }) => state !== null && !isFinished(state))
  );
}

function namedInstance(run: DagRun, all: readonly TaskInstance[], task: string): TaskInstance {
  const found = chosenInstances(all, task);
  const [only] = found;
  if (only === undefined) throw noSuchTask(run, all, task);
  const telling = found.length === 1 ? only : mostTelling(found);
  if (telling !== undefined) return telling;
  throw usageError(
    `${task} has ${found.length} instances and none of them has failed`,
    `name one, from ${task}[0] on: "svc runs show ${run.dag_id} ${run.dag_run_id}" lists them`,
  );
}

function nothingToRead(run: DagRun, all: readonly TaskInstance[], found: TaskInstance | undefined): CliError {
  if (found !== undefined) {
    const why = failureText(found) ?? found.wait_reason ?? stateText(found.state);
    return new CliError(`${instanceName(found)} has no log, it was not tried: ${why}`, {
      exitCode: EXIT.notFound,
      hint: `look at the run with: svc runs show ${run.dag_id} ${run.dag_run_id}`,
    });
  }
  const tried = inOrder(all.filter((instance) => instance.try_number > 0));
  const names = [...new Set(tried.map((instance) => instance.task_id))].slice(0, 10);
  return new CliError(`no task of run ${run.dag_run_id} has failed or is running`, {
    exitCode: EXIT.notFound,
    hint:
      names.length === 0
        ? `no task has been tried; see why with: svc runs show ${run.dag_id} ${run.dag_run_id}`
        : `name the task: --task ${names.join(', --task ')}`,
  });
}
