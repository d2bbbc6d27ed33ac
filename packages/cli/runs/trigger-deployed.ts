/** `svc deploy --trigger`: triggers a run of every deployed DAG, and waits for them on request. */
import type { DagRun } from '@svc/client/wire-types.ts';
import { CliError, messageOf } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../output/text.ts';
import { endText, failureOf, followRun, untilStopped } from './follow-run.ts';
import { lastingClient } from './lasting-client.ts';
import { startRun } from './start-run.ts';
import type { StartOptions } from './start-run.ts';
import { watchRun } from './watch-run.ts';

export type TriggeredRuns = {
  /** The runs in their last known state. */
  readonly runs: DagRun[];
  /** The failure that ends the command. Other failures have been printed. */
  readonly failure: CliError | undefined;
};

type Options = ClientCommandOptions & StartOptions;
type ClientOf = Awaited<ReturnType<typeof lastingClient>>;

/** A DAG that cannot be started does not stop the others. */
export async function triggerDeployed(
  context: CliContext,
  input: { client: Client; dagIds: readonly string[]; options: Options },
): Promise<TriggeredRuns> {
  const { client, dagIds, options } = input;
  const clientOf = await lastingClient(context, options, client);
  const started: DagRun[] = [];
  const failures: CliError[] = [];
  for (const dagId of dagIds) {
    try {
      const run = await startRun(context, { client: await clientOf(), dagId, body: {}, options });
      started.push(run);
      if (!options.json) context.stdout.write(`Triggered ${run.dag_run_id} of DAG ${dagId}.\n`);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      failures.push(error);
    }
  }
  const ended = options.wait ? await waitForRuns(context, clientOf, started, options) : { runs: started, failures: [] };
  return { runs: ended.runs, failure: oneOf(context, [...failures, ...ended.failures], options) };
}

/** A single run is drawn. Of several runs, each is reported when it ends. */
async function waitForRuns(
  context: CliContext,
  clientOf: ClientOf,
  started: readonly DagRun[],
  options: Options,
): Promise<{ runs: DagRun[]; failures: CliError[] }> {
  const say = (text: string): void => {
    if (!options.json) context.stdout.write(`${printable(text)}\n`);
  };
  const [only] = started;
  const snapshots =
    only !== undefined && started.length === 1
      ? [
          await followRun(context, {
            clientOf,
            dagId: only.dag_id,
            runId: only.dag_run_id,
            isQuiet: options.json === true,
          }),
        ]
      : await untilStopped('the runs go on; "svc runs cancel" ends them', (signal) =>
          Promise.all(
            started.map(async (run) => {
              const ended = await watchRun({ clientOf, dagId: run.dag_id, runId: run.dag_run_id, signal });
              say(endText(ended));
              return ended;
            }),
          ),
        );
  if (snapshots.length === 1)
    snapshots.filter(({ run }) => run.state === 'success').forEach((each) => say(endText(each)));
  return { runs: snapshots.map(({ run }) => run), failures: snapshots.flatMap((each) => failureOf(each) ?? []) };
}

/** A single failure is thrown unchanged. Several failures are printed one by one and then counted. */
function oneOf(context: CliContext, failures: readonly CliError[], options: Options): CliError | undefined {
  if (failures.length <= 1) return failures[0];
  for (const failure of options.json ? [] : failures) {
    const hint = failure.hint === undefined ? '' : `\n  ${failure.hint}`;
    context.stderr.write(`${printable(messageOf(failure) + hint)}\n`);
  }
  return new CliError(`${failures.length} runs were not started or failed`);
}
