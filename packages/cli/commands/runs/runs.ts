/** `svc runs`: the command group, and listing and showing runs. The other commands have a file each. */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { RUN_STATES, RUN_TYPES, TASK_STATES } from '@svc/spec/states.ts';
import type { RunState, RunType } from '@svc/spec/states.ts';
import { InvalidArgumentError, Option } from 'commander';
import type { Client } from '../../client/client.ts';
import { connect, withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { printFields } from '../../output/fields.ts';
import { printTable } from '../../output/terminal.ts';
import { timeText } from '../../output/wording.ts';
import {
  ALL_DAGS,
  durationText,
  inOrder,
  instanceName,
  reasonText,
  secondsOf,
  stateText,
  triesText,
} from '../../runs/fields.ts';
import { findRun } from '../../runs/find-run.ts';
import { parseCount, parseLastMoment, parseMoment } from '../../runs/run-options.ts';
import { countsText } from '../../runs/task-lines.ts';
import type { Snapshot } from '../../runs/task-lines.ts';
import { instancesOf } from '../../runs/watch-run.ts';
import { whyQueued } from '../../runs/why-queued.ts';
import type { SvcCommand } from '../../svc-command.ts';
import { addRunsCancelCommand } from './cancel.ts';
import { addRunsClearCommand } from './clear.ts';
import { addRunsLogsCommand } from './logs.ts';
import { showTask } from './show-task.ts';
import { addRunsTriggerCommand } from './trigger.ts';
import { addRunsWatchCommand } from './watch.ts';
import { addRunsWhyCommand } from './why.ts';

type ListOptions = ClientCommandOptions & {
  state: RunState[];
  type: RunType[];
  from?: string;
  to?: string;
  limit: number;
};
type ShowOptions = ClientCommandOptions & { state: string[]; task?: string };

const LARGEST_PAGE = 500;
const DEFAULT_LIMIT = 25;
const NO_STATUS = 'none';

export function addRunsCommands(program: SvcCommand, context: CliContext): void {
  const runs = program.command('runs').description('Start runs of DAGs, follow them, read their logs, run parts again');
  addRunsTriggerCommand(runs, context);
  addList(runs, context);
  addShow(runs, context);
  addRunsWhyCommand(runs, context);
  addRunsWatchCommand(runs, context);
  addRunsLogsCommand(runs, context);
  addRunsClearCommand(runs, context);
  addRunsCancelCommand(runs, context);
}

const choice = (flags: string, description: string, words: readonly string[]): Option =>
  new Option(flags, `${description}; may be repeated (${words.join(', ')})`)
    .default([], 'all')
    .argParser((word, before) => {
      if (!words.includes(word)) throw new InvalidArgumentError(`Allowed are ${words.join(', ')}.`);
      return [...(before as string[]), word];
    });

function addList(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('list'))
    .description('List runs, newest first')
    .argument('[dag-id]', 'only runs of this DAG (default: of all DAGs)')
    .addOption(choice('--state <state>', 'only in this state', RUN_STATES))
    .addOption(choice('--type <type>', 'only of this type', RUN_TYPES))
    .option('--from <date>', 'only for logical dates from this one on; UTC unless it says otherwise', parseMoment)
    .option('--to <date>', 'only for logical dates up to this one, which is included', parseLastMoment)
    .option('--limit <number>', 'how many to list', parseCount, DEFAULT_LIMIT)
    .example('what failed lately, of all DAGs', 'svc runs list --state failed')
    .example('what ran for January', 'svc runs list daily_sales --from 2026-01-01 --to 2026-01-31 --limit 100')
    .action((dagId: string | undefined, options: ListOptions) => list(context, dagId, options));
}

function addShow(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('show'))
    .description('Show a run and its tasks: state, try, duration, why one failed, why one waits')
    .argument('<dag-id>', 'id of the DAG')
    .argument('[run-id]', 'id of the run (default: the newest)')
    .addOption(choice('--state <state>', 'only tasks in this state', [...TASK_STATES, NO_STATUS]))
    .option('--task <task-id>', 'one task from close up: its tries, and everything it waits for')
    .example('the newest run', 'svc runs show daily_sales')
    .example('why a task does not start', 'svc runs show daily_sales manual__2026-01-31T06:00:00+00:00 --task load')
    .action((dagId: string, runId: string | undefined, options: ShowOptions) => show(context, dagId, runId, options));
}

async function list(context: CliContext, dagId: string | undefined, options: ListOptions): Promise<void> {
  const client = await connect(context, options);
  const { runs, total } = await listRuns(client, dagId ?? ALL_DAGS, options);
  if (options.json) {
    printJson(context, runs);
    return;
  }
  if (runs.length === 0) {
    context.stderr.write('There are no such runs. "svc runs trigger <dag-id>" starts one.\n');
    return;
  }
  const now = Date.now();
  printTable(context.stdout, {
    columns: [
      ...(dagId === undefined ? [{ title: 'DAG', value: (run: DagRun) => run.dag_id }] : []),
      { title: 'RUN', value: (run) => run.dag_run_id },
      { title: 'STATE', value: (run) => run.state },
      { title: 'TYPE', value: (run) => run.run_type },
      { title: 'LOGICAL DATE', value: (run) => timeText(run.logical_date) },
      { title: 'STARTED', value: (run) => timeText(run.start_date) },
      { title: 'DURATION', value: (run) => durationText(secondsOf(run, now)), align: 'right' },
    ],
    rows: runs,
  });
  if (runs.length < total) {
    context.stderr.write(`${runs.length} of ${total} are shown; --limit shows more, --state and --from select.\n`);
  }
}

async function listRuns(
  client: Client,
  dagId: string,
  options: ListOptions,
): Promise<{ runs: DagRun[]; total: number }> {
  const runs = new Map<string, DagRun>();
  for (let offset = 0; ;) {
    const page = await client.get('/api/v2/dags/{dag_id}/dagRuns', {
      path: { dag_id: dagId },
      query: {
        state: options.state,
        run_type: options.type,
        logical_date_gte: options.from,
        logical_date_lte: options.to,
        limit: Math.min(LARGEST_PAGE, options.limit - offset),
        offset,
      },
    });
    // New runs may move others to the next page, so some may occur twice.
    for (const run of page.dag_runs) runs.set(`${run.dag_id} ${run.dag_run_id}`, run);
    offset += page.dag_runs.length;
    const total = page.total_entries ?? 0; // null only when paging by cursor
    if (page.dag_runs.length === 0 || offset >= Math.min(total, options.limit)) {
      return { runs: [...runs.values()], total };
    }
  }
}

async function show(
  context: CliContext,
  dagId: string,
  runId: string | undefined,
  options: ShowOptions,
): Promise<void> {
  const client = await connect(context, options);
  const run = await findRun(client, dagId, runId);
  const all = inOrder(await instancesOf(client, run));
  if (options.task !== undefined) {
    await showTask(context, { client, run, all, task: options.task, isJson: options.json === true });
    return;
  }
  const waitReason = await whyQueued(client, run);
  const states = new Set(options.state);
  const instances = states.size === 0 ? all : all.filter(({ state }) => states.has(state ?? NO_STATUS));
  if (options.json) {
    printJson(context, { ...run, wait_reason: waitReason, task_instances: instances });
    return;
  }
  printRun(context, { run, instances: all, waitReason, at: Date.now() });
  if (instances.length === 0) return;
  context.stdout.write('\n');
  printInstances(context, instances);
}

function printRun(context: CliContext, { run, instances, waitReason, at }: Snapshot): void {
  const seconds = secondsOf(run, at);
  const hasInterval = run.data_interval_start !== null && run.data_interval_start !== run.data_interval_end;
  printFields(context.stdout, [
    ['DAG', run.dag_id],
    ['Run', run.dag_run_id],
    ['State', run.state],
    ['Waits because', waitReason],
    ['Type', run.triggering_user_name === null ? run.run_type : `${run.run_type}, by ${run.triggering_user_name}`],
    ['Version', run.dag_versions.map(({ version_number: number }) => `v${number}`).join(', ') || null],
    ['Logical date', run.logical_date && timeText(run.logical_date)],
    [
      'Data interval',
      hasInterval ? `${timeText(run.data_interval_start)} to ${timeText(run.data_interval_end)}` : null,
    ],
    ['Started', run.start_date && timeText(run.start_date)],
    ['Ended', run.end_date && timeText(run.end_date)],
    ['Duration', seconds === null ? null : durationText(seconds)],
    ['Conf', Object.keys(run.conf).length === 0 ? null : JSON.stringify(run.conf)],
    ['Note', run.note],
    ['Tasks', instances.length === 0 ? null : countsText(instances)],
  ]);
}

function printInstances(context: CliContext, instances: readonly TaskInstance[]): void {
  const now = Date.now();
  const hasReasons = instances.some((instance) => reasonText(instance) !== '');
  printTable(context.stdout, {
    columns: [
      { title: 'TASK', value: instanceName },
      { title: 'STATE', value: (instance) => stateText(instance.state) },
      { title: 'TRY', value: triesText, align: 'right' },
      { title: 'DURATION', value: (instance) => durationText(secondsOf(instance, now)), align: 'right' },
      ...(hasReasons ? [{ title: 'WHY', value: reasonText }] : []),
    ],
    rows: instances,
  });
}
