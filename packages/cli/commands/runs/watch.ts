import { withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import { findRun } from '../../runs/find-run.ts';
import { endText, failureOf, followRun } from '../../runs/follow-run.ts';
import { lastingClient } from '../../runs/lasting-client.ts';
import type { SvcCommand } from '../../svc-command.ts';

export function addRunsWatchCommand(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('watch'))
    .description('Watch a run until it has ended; exit code 1 when it fails')
    .argument('<dag-id>', 'id of the DAG')
    .argument('[run-id]', 'id of the run (default: the newest)')
    .note(
      'On a terminal the tasks are drawn as they go; elsewhere there is a line per event. Ctrl-C ends the watching, not the run.\nWith --json nothing is shown until the run has ended.',
    )
    .example('the newest run', 'svc runs watch daily_sales')
    .action((dagId: string, runId: string | undefined, options: ClientCommandOptions) =>
      watch(context, dagId, runId, options),
    );
}

async function watch(
  context: CliContext,
  dagId: string,
  runId: string | undefined,
  options: ClientCommandOptions,
): Promise<void> {
  const clientOf = await lastingClient(context, options);
  const run = await findRun(await clientOf(), dagId, runId);
  await waitForEnd(context, { clientOf, dagId, runId: run.dag_run_id, options });
}

/** Waits until the run has ended. A failed run makes the command fail, whatever is printed. */
export async function waitForEnd(
  context: CliContext,
  input: {
    clientOf: Awaited<ReturnType<typeof lastingClient>>;
    dagId: string;
    runId: string;
    options: ClientCommandOptions;
  },
): Promise<void> {
  const { clientOf, dagId, runId, options } = input;
  const ended = await followRun(context, { clientOf, dagId, runId, isQuiet: options.json === true });
  if (options.json) printJson(context, { ...ended.run, task_instances: ended.instances });
  const failure = failureOf(ended);
  if (failure !== undefined) throw failure;
  if (!options.json) context.stdout.write(`${capitalised(endText(ended))}.\n`);
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
