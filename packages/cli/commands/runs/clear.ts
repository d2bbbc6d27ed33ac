import type { ClearTaskInstances, TaskInstance } from '@svc/client/wire-types.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { Client } from '../../client/client.ts';
import { withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { printTable } from '../../output/terminal.ts';
import { count } from '../../output/wording.ts';
import { ask, canAsk } from '../../prompt.ts';
import { inOrder, instanceName, reasonText, stateText, triesText } from '../../runs/fields.ts';
import { findRun } from '../../runs/find-run.ts';
import { lastingClient } from '../../runs/lasting-client.ts';
import { collect } from '../../runs/run-options.ts';
import { instancesOf } from '../../runs/watch-run.ts';
import type { SvcCommand } from '../../svc-command.ts';
import { chosenInstances, noSuchTask } from './show-task.ts';
import { waitForEnd } from './watch.ts';

type Options = ClientCommandOptions & {
  task: string[];
  all?: true;
  upstream?: true;
  downstream?: true;
  past?: true;
  future?: true;
  latestVersion?: true;
  dryRun?: true;
  yes?: true;
  wait?: true;
};

export function addRunsClearCommand(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('clear'))
    .description('Run tasks of a run again; first shows which, and asks')
    .argument('<dag-id>', 'id of the DAG')
    .argument('<run-id>', 'id of the run')
    .option('--task <task-id>', 'only this task, or one instance of it as task[3]; may be repeated', collect, [])
    .option('--all', 'whatever their state, not only those that failed or could not run for it')
    .option('--upstream', 'also all tasks before them')
    .option('--downstream', 'also all tasks after them')
    .option('--past', 'also in all runs of earlier logical dates')
    .option('--future', 'also in all runs of later logical dates')
    .option('--latest-version', 'go on with the newest version of the DAG (default: the version the run has)')
    .option('--dry-run', 'only show which')
    .option('-y, --yes', 'do not ask')
    .option('--wait', 'watch the run until it has ended; exit code 1 when it fails')
    .note('A task that is running is stopped and starts again. Earlier tries and their logs are kept.')
    .example('what failed, once more', 'svc runs clear daily_sales manual__2026-01-31T06:00:00+00:00')
    .example(
      'one task and all after it, with the newest code',
      'svc runs clear daily_sales my-run --task load --all --downstream --latest-version --yes',
    )
    .action((dagId: string, runId: string, options: Options) => clear(context, dagId, runId, options));
}

async function clear(context: CliContext, dagId: string, runId: string, options: Options): Promise<void> {
  const clientOf = await lastingClient(context, options);
  const client = await clientOf();
  const body = bodyOf(runId, options);
  const would = await request(client, dagId, { ...body, dry_run: true }).catch(async (error: unknown) => {
    // The server refuses an unknown task. The error here has the usual text and exit code.
    await refuseUnknownTasks(client, dagId, runId, options.task);
    throw error;
  });
  if (would.length === 0) await refuseUnknownTasks(client, dagId, runId, options.task);
  if (options.dryRun || would.length === 0) {
    if (options.json) printJson(context, { dry_run: options.dryRun === true, task_instances: would });
    else if (would.length === 0) context.stderr.write(`${nothing(options)}\n`);
    else {
      print(context, would);
      context.stdout.write(`${count(would.length, 'task instance')} would be cleared.\n`);
    }
    return;
  }
  if (!options.yes) {
    // JSON output is for a program, and a table would disturb it.
    if (!options.json) print(context, would);
    await confirm(context, would.length);
  }
  const cleared = await request(client, dagId, { ...body, dry_run: false });
  if (!options.json) context.stdout.write(`Cleared ${count(cleared.length, 'task instance')}.\n`);
  if (options.wait) await waitForEnd(context, { clientOf, dagId, runId, options });
  else if (options.json) printJson(context, { dry_run: false, task_instances: cleared });
}

const bodyOf = (runId: string, options: Options): ClearTaskInstances => ({
  dag_run_id: runId,
  ...(options.task.length > 0 && { task_ids: options.task.map(taskChoice) }),
  only_failed: options.all !== true,
  include_upstream: options.upstream === true,
  include_downstream: options.downstream === true,
  include_past: options.past === true,
  include_future: options.future === true,
  run_on_latest_version: options.latestVersion === true,
});

/** `load[3]` is an instance of a mapped task. Task ids have no brackets. */
export function taskChoice(text: string): string | [string, number] {
  const [, taskId, mapIndex] = /^(.+)\[(\d+)\]$/.exec(text) ?? [];
  return taskId === undefined ? text : [taskId, Number(mapIndex)];
}

async function request(client: Client, dagId: string, body: ClearTaskInstances): Promise<TaskInstance[]> {
  const path = { dag_id: dagId };
  return inOrder((await client.post('/api/v2/dags/{dag_id}/clearTaskInstances', { path, body })).task_instances);
}

/** A misspelt task selects nothing, and so does a successful one. Only the misspelt one is an error. */
async function refuseUnknownTasks(
  client: Client,
  dagId: string,
  runId: string,
  tasks: readonly string[],
): Promise<void> {
  if (tasks.length === 0) return;
  const run = await findRun(client, dagId, runId);
  const all = await instancesOf(client, run);
  const unknown = tasks.find((task) => chosenInstances(all, task).length === 0);
  if (unknown !== undefined) throw noSuchTask(run, all, unknown);
}

const nothing = ({ all, task }: Options): string =>
  all
    ? 'There is nothing to clear: the run has no such task.'
    : `There is nothing to clear: ${task.length > 0 ? 'none of these tasks' : 'no task'} has failed. Add --all for those that did not.`;

function print(context: CliContext, instances: readonly TaskInstance[]): void {
  const hasRuns = new Set(instances.map((instance) => instance.dag_run_id)).size > 1;
  printTable(context.stdout, {
    columns: [
      ...(hasRuns ? [{ title: 'RUN', value: (instance: TaskInstance) => instance.dag_run_id }] : []),
      { title: 'TASK', value: instanceName },
      { title: 'STATE', value: (instance) => stateText(instance.state) },
      { title: 'TRY', value: triesText, align: 'right' },
      { title: 'WHY', value: reasonText },
    ],
    rows: instances,
  });
}

async function confirm(context: CliContext, number: number): Promise<void> {
  if (!canAsk(context)) {
    throw usageError('clearing needs a yes, and there is nobody to ask', 'add --yes, or --dry-run to only look');
  }
  const answer = await ask(context, `Clear ${count(number, 'task instance')}? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('nothing was cleared');
}
