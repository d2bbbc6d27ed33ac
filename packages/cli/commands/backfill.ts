/** `svc backfill`: runs for past dates. */
import type { Backfill, DagRun } from '@svc/client/wire-types.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printFields } from '../output/fields.ts';
import { printTable } from '../output/terminal.ts';
import { timeText } from '../output/wording.ts';
import { durationText, secondsOf } from '../runs/fields.ts';
import type { SvcCommand } from '../svc-command.ts';
import { addBackfillCreateCommand } from './backfill-create.ts';
import { parseBackfillId, runsOfBackfill, stateOfBackfill } from './backfill-fields.ts';

type ListOptions = ClientCommandOptions & { active?: true };

export function addBackfillCommands(program: SvcCommand, context: CliContext): void {
  const backfill = program
    .command('backfill')
    .description('Run a DAG for dates that have passed')
    .usage('[options] [command]\n       svc backfill <dag-id> --from <date> --to <date>')
    .note('"svc backfill <dag-id> …" is short for "svc backfill create <dag-id> …".')
    .example(
      'January, four days at a time',
      'svc backfill daily_sales --from 2026-01-01 --to 2026-01-31 --max-active 4',
    );
  addBackfillCreateCommand(backfill, context);

  withClientOptions(backfill.command('list'))
    .description('List backfills, newest first')
    .argument('[dag-id]', 'only those of this DAG')
    .option('--active', 'only those that are not completed')
    .action((dagId: string | undefined, options: ListOptions) => list(context, dagId, options));

  withClientOptions(backfill.command('show'))
    .description('Show a backfill and its runs')
    .argument('<id>', 'number of the backfill', parseBackfillId)
    .action((id: number, options: ClientCommandOptions) => show(context, id, options));
  addChanges(backfill, context);
}

const CHANGES = [
  { verb: 'pause', description: 'Start no more runs of a backfill; what runs goes on', done: 'Paused' },
  { verb: 'unpause', description: 'Let a backfill go on', done: 'Unpaused' },
  { verb: 'cancel', description: 'End a backfill: what has not started fails; what runs goes on', done: 'Cancelled' },
] as const;
type Change = (typeof CHANGES)[number];

function addChanges(backfill: SvcCommand, context: CliContext): void {
  for (const change of CHANGES) {
    withClientOptions(backfill.command(change.verb))
      .description(change.description)
      .argument('<id>', 'number of the backfill', parseBackfillId)
      .action((id: number, options: ClientCommandOptions) => apply(context, id, change, options));
  }
}

async function list(context: CliContext, dagId: string | undefined, options: ListOptions): Promise<void> {
  const client = await connect(context, options);
  const backfills = await listBackfills(client, dagId, options);
  if (options.json) {
    printJson(context, backfills);
    return;
  }
  if (backfills.length === 0) {
    context.stderr.write('There are no such backfills. "svc backfill <dag-id> --from … --to …" makes one.\n');
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'ID', value: (row) => String(row.id), align: 'right' },
      ...(dagId === undefined ? [{ title: 'DAG', value: (row: Backfill) => row.dag_id }] : []),
      { title: 'STATE', value: stateOfBackfill },
      { title: 'FROM', value: (row) => timeText(row.from_date) },
      { title: 'TO', value: (row) => timeText(row.to_date) },
      { title: 'AT ONCE', value: (row) => String(row.max_active_runs), align: 'right' },
      { title: 'CREATED', value: (row) => timeText(row.created_at) },
    ],
    rows: backfills,
  });
}

async function listBackfills(client: Client, dagId: string | undefined, options: ListOptions): Promise<Backfill[]> {
  const backfills = await client.list('/api/v2/backfills', 'backfills', {
    query: { order_by: ['-id'], dag_id: dagId, active: options.active },
  });
  // A new backfill may move another one to the next page, where it occurs again.
  return [...new Map(backfills.map((backfill) => [backfill.id, backfill])).values()];
}

async function show(context: CliContext, id: number, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const backfill = await client.get('/api/v2/backfills/{backfill_id}', { path: { backfill_id: id } });
  const runs = await runsOfBackfill(client, backfill);
  if (options.json) {
    printJson(context, { ...backfill, dag_runs: runs });
    return;
  }
  printFields(context.stdout, [
    ['Backfill', backfill.id],
    ['DAG', backfill.dag_id],
    ['State', stateOfBackfill(backfill)],
    ['Dates', `${timeText(backfill.from_date)} to ${timeText(backfill.to_date)}`],
    ['Reprocess', backfill.reprocess_behavior],
    ['At once', backfill.max_active_runs],
    ['Conf', backfill.dag_run_conf === null ? null : JSON.stringify(backfill.dag_run_conf)],
    ['Created', timeText(backfill.created_at)],
    ['Completed', backfill.completed_at && timeText(backfill.completed_at)],
  ]);
  if (runs.length === 0) return;
  const now = Date.now();
  context.stdout.write('\n');
  printTable(context.stdout, {
    columns: [
      { title: 'LOGICAL DATE', value: (run: DagRun) => timeText(run.logical_date) },
      { title: 'RUN', value: (run) => run.dag_run_id },
      { title: 'STATE', value: (run) => run.state },
      { title: 'DURATION', value: (run) => durationText(secondsOf(run, now)), align: 'right' },
    ],
    rows: runs,
  });
}

async function apply(context: CliContext, id: number, change: Change, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const before = await client.get('/api/v2/backfills/{backfill_id}', { path: { backfill_id: id } });
  if (before.completed_at !== null) {
    throw new CliError(`backfill ${id} of DAG ${before.dag_id} is completed already`, {
      exitCode: EXIT.failed,
      hint: `look at its runs with: svc backfill show ${id}`,
    });
  }
  const path = { backfill_id: id };
  const after = await client.put(`/api/v2/backfills/{backfill_id}/${change.verb}`, { path });
  if (options.json) printJson(context, after);
  else context.stdout.write(`${change.done} backfill ${id} of DAG ${after.dag_id}.\n`);
}
