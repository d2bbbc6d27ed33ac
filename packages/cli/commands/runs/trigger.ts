import { withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { lastingClient } from '../../runs/lasting-client.ts';
import { confOf, parseMoment, withConfOptions } from '../../runs/run-options.ts';
import type { ConfOptions } from '../../runs/run-options.ts';
import { startRun } from '../../runs/start-run.ts';
import type { StartOptions } from '../../runs/start-run.ts';
import type { SvcCommand } from '../../svc-command.ts';
import { waitForEnd } from './watch.ts';

type Options = ClientCommandOptions &
  ConfOptions &
  StartOptions & { logicalDate?: string; runId?: string; note?: string };

export function addRunsTriggerCommand(runs: SvcCommand, context: CliContext): void {
  withConfOptions(withClientOptions(runs.command('trigger')))
    .description('Start a run of a DAG now')
    .argument('<dag-id>', 'id of the DAG')
    .option(
      '--logical-date <date>',
      'the date the run is for; UTC unless it says otherwise (default: now)',
      parseMoment,
    )
    .option('--run-id <id>', 'id of the run (default: manual__ and the time)')
    .option('--note <text>', 'a note on the run')
    .option('--unpause', 'unpause the DAG first; runs of a paused one wait')
    .option('--wait', 'watch the run until it has ended; exit code 1 when it fails')
    .note('The conf is checked against the params of the DAG. Over max_active_runs the run waits for its turn.')
    .example('start and watch it', 'svc runs trigger daily_sales --wait')
    .example('with a conf', `svc runs trigger daily_sales --param region=eu --param 'days=[1, 2]'`)
    .example('for a day that has passed', 'svc runs trigger daily_sales --logical-date 2026-01-31')
    .action((dagId: string, options: Options) => trigger(context, dagId, options));
}

async function trigger(context: CliContext, dagId: string, options: Options): Promise<void> {
  const clientOf = await lastingClient(context, options);
  const body = {
    conf: await confOf(context, options),
    ...(options.logicalDate !== undefined && { logical_date: options.logicalDate }),
    ...(options.runId !== undefined && { dag_run_id: options.runId }),
    ...(options.note !== undefined && { note: options.note }),
  };
  const run = await startRun(context, { client: await clientOf(), dagId, body, options });
  if (options.wait) {
    if (!options.json) context.stderr.write(`Triggered ${run.dag_run_id} of DAG ${dagId}.\n`);
    await waitForEnd(context, { clientOf, dagId, runId: run.dag_run_id, options });
    return;
  }
  if (options.json) {
    printJson(context, run);
    return;
  }
  context.stdout.write(
    `Triggered ${run.dag_run_id} of DAG ${dagId}.\nWatch it with: svc runs watch ${dagId} ${run.dag_run_id}\n`,
  );
}
