import { setTimeout as sleep } from 'node:timers/promises';
import type { Backfill, BackfillCreate, BackfillDryRun } from '@svc/client/wire-types.ts';
import { Option } from 'commander';
import { CliError, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson, warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { count, timeText } from '../output/wording.ts';
import { untilStopped } from '../runs/follow-run.ts';
import { lastingClient } from '../runs/lasting-client.ts';
import { confOf, parseCount, parseLastMoment, parseMoment, withConfOptions } from '../runs/run-options.ts';
import type { ConfOptions } from '../runs/run-options.ts';
import { throughOutages } from '../runs/through-outages.ts';
import type { SvcCommand } from '../svc-command.ts';
import { runsOfBackfill } from './backfill-fields.ts';

type Options = ClientCommandOptions &
  ConfOptions & {
    from: string;
    to: string;
    reverse?: true;
    reprocess: NonNullable<BackfillCreate['reprocess_behavior']>;
    maxActive: number;
    latestVersion: boolean;
    dryRun?: true;
    wait?: true;
  };

const DEFAULT_MAX_ACTIVE = 10;
const LOOK_EVERY_MS = 1_000;

export function addBackfillCreateCommand(backfill: SvcCommand, context: CliContext): void {
  const create = withClientOptions(backfill.command('create', { isDefault: true }))
    .description('Run a DAG for every date of its schedule in a range')
    .argument('<dag-id>', 'id of the DAG')
    .requiredOption('--from <date>', 'the first date; UTC unless it says otherwise', parseMoment)
    .requiredOption('--to <date>', 'the last date, included; a day is meant to its end', parseLastMoment);
  withConfOptions(create)
    .option('--reverse', 'newest first')
    .addOption(
      new Option('--reprocess <which>', 'which dates that have a run are run again')
        .choices(['none', 'failed', 'completed'])
        .default('none'),
    )
    .option('--max-active <number>', 'how many of its runs run at a time', parseCount, DEFAULT_MAX_ACTIVE)
    .option('--no-latest-version', 'runs that run again keep their version of the DAG')
    .option('--dry-run', 'only show the dates')
    .option('--wait', 'wait until it is completed; exit code 1 when a run failed')
    .note('Dates that are still to come are left out. A DAG has one backfill at a time.')
    .example('which dates that would be', 'svc backfill create daily_sales --from 2026-01-01 --to 2026-01-31 --dry-run')
    .example('what failed, once more', 'svc backfill daily_sales --from 2026-01-01 --to 2026-01-31 --reprocess failed')
    .action((dagId: string, options: Options) => createBackfill(context, dagId, options));
}

async function createBackfill(context: CliContext, dagId: string, options: Options): Promise<void> {
  const clientOf = await lastingClient(context, options);
  const client = await clientOf();
  const body = await bodyOf(context, dagId, options);
  const planned = await client.post('/api/v2/backfills/dry_run', { body });
  if (options.dryRun) {
    printDates(context, planned, options);
    return;
  }
  if (planned.total_entries === 0) throw nothingToRun(dagId, options);
  const { is_paused: isPaused } = await client.get('/api/v2/dags/{dag_id}', { path: { dag_id: dagId } });
  if (isPaused && options.wait) {
    throw usageError(
      `DAG ${dagId} is paused: its runs would wait until somebody unpauses it`,
      `unpause it with: svc dags unpause ${dagId}`,
    );
  }
  const backfill = await client.post('/api/v2/backfills', { body });
  if (isPaused) warn(context, `DAG ${dagId} is paused, so the runs wait; let them go with: svc dags unpause ${dagId}`);
  if (!options.json) {
    const runs = count(planned.total_entries, 'run');
    context.stdout.write(
      `Created backfill ${backfill.id} of DAG ${dagId}: ${runs}, ${options.maxActive} at a time.\nLook at it with: svc backfill show ${backfill.id}\n`,
    );
  }
  if (options.wait) await waitForAll(context, { clientOf, backfill, options });
  else if (options.json) printJson(context, backfill);
}

async function bodyOf(context: CliContext, dagId: string, options: Options): Promise<BackfillCreate> {
  const conf = await confOf(context, options);
  return {
    dag_id: dagId,
    from_date: options.from,
    to_date: options.to,
    run_backwards: options.reverse === true,
    ...(Object.keys(conf).length > 0 && { dag_run_conf: conf }),
    reprocess_behavior: options.reprocess,
    max_active_runs: options.maxActive,
    run_on_latest_version: options.latestVersion,
  };
}

function printDates(context: CliContext, planned: BackfillDryRun, options: Options): void {
  const dates = planned.backfills.map(({ logical_date: date }) => date);
  if (options.json) {
    printJson(context, { dry_run: true, logical_dates: dates });
    return;
  }
  for (const date of dates) context.stdout.write(`${timeText(date)}\n`);
  context.stderr.write(`${count(planned.total_entries, 'run')}; nothing was created.\n`);
}

const nothingToRun = (dagId: string, { from, to, reprocess }: Options): CliError =>
  new CliError(`there is nothing to run for DAG ${dagId} from ${from} to ${to}`, {
    hint:
      reprocess === 'completed'
        ? 'its schedule has no date there that has come'
        : 'its schedule has no date there that has come, or all have a run already: --reprocess completed runs those again',
  });

async function waitForAll(
  context: CliContext,
  input: { clientOf: () => Promise<Client>; backfill: Backfill; options: Options },
): Promise<void> {
  const { clientOf, backfill, options } = input;
  const { id, dag_id: dagId } = backfill;
  const ended = await untilStopped(`the backfill goes on; end it with: svc backfill cancel ${id}`, (signal) =>
    completed(clientOf, id, signal),
  );
  const runs = await runsOfBackfill(await clientOf(), ended);
  const failed = runs.filter((run) => run.state === 'failed');
  if (options.json) printJson(context, { ...ended, dag_runs: runs });
  if (failed.length > 0) {
    throw new CliError(`backfill ${id} of DAG ${dagId}: ${failed.length} of ${count(runs.length, 'run')} failed`, {
      hint: `look at them with: svc backfill show ${id}`,
    });
  }
  if (!options.json) {
    context.stdout.write(`Backfill ${id} of DAG ${dagId} is completed: ${count(runs.length, 'run')} succeeded.\n`);
  }
}

async function completed(clientOf: () => Promise<Client>, id: number, signal: AbortSignal): Promise<Backfill> {
  const look = async () => (await clientOf()).get('/api/v2/backfills/{backfill_id}', { path: { backfill_id: id } });
  for (;;) {
    const backfill = await throughOutages(look, { pauseMs: () => LOOK_EVERY_MS, signal });
    if (backfill.completed_at !== null) return backfill;
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}
