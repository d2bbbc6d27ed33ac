import type { DagRun } from '@svc/client/wire-types.ts';
import { isRunFinished } from '@svc/spec/states.ts';
import { connect, withClientOptions } from '../../client/connect.ts';
import type { ClientCommandOptions } from '../../client/connect.ts';
import { printJson } from '../../context.ts';
import type { CliContext } from '../../context.ts';
import type { SvcCommand } from '../../svc-command.ts';

export function addRunsCancelCommand(runs: SvcCommand, context: CliContext): void {
  withClientOptions(runs.command('cancel'))
    .description('End runs: what is running is stopped, what has not started is skipped, the run counts as failed')
    .argument('<dag-id>', 'id of the DAG')
    .argument('<run-ids...>', 'ids of the runs')
    .note('A run that is over stays as it is. "svc runs clear" lets a cancelled run go on.')
    .example('end one', 'svc runs cancel daily_sales manual__2026-01-31T06:00:00+00:00')
    .action((dagId: string, runIds: string[], options: ClientCommandOptions) =>
      cancel(context, dagId, runIds, options),
    );
}

async function cancel(
  context: CliContext,
  dagId: string,
  runIds: readonly string[],
  options: ClientCommandOptions,
): Promise<void> {
  const client = await connect(context, options);
  const runs: DagRun[] = [];
  for (const runId of runIds) {
    const path = { dag_id: dagId, dag_run_id: runId };
    const run = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path });
    // Marking a finished run would turn a past success into a failure.
    if (isRunFinished(run.state)) {
      if (!options.json) context.stderr.write(`${runId} is over already (${run.state}).\n`);
      runs.push(run);
      continue;
    }
    runs.push(await client.patch('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path, body: { state: 'failed' } }));
    if (!options.json) context.stdout.write(`Cancelled ${runId} of DAG ${dagId}.\n`);
  }
  if (options.json) printJson(context, runs);
}
