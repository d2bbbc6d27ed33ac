import { usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { dagPath } from '../commands/dag-fields.ts';
import type { Dag } from '../commands/dag-fields.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { runsPath } from './fields.ts';
import type { Run } from './fields.ts';

export type StartOptions = { wait?: true; unpause?: true };

/** A run of a paused DAG waits: that has to be said, and must not be waited for. */
export async function startRun(
  context: CliContext,
  input: { client: Client; dagId: string; body: object; options: StartOptions },
): Promise<Run> {
  const { client, dagId, body, options } = input;
  if (options.unpause) await client.patch(dagPath(dagId), { is_paused: false });
  else if (options.wait && (await isPaused(client, dagId))) {
    throw usageError(
      `DAG ${dagId} is paused: its run would wait until somebody unpauses it`,
      `add --unpause, or unpause it with: svc dags unpause ${dagId}`,
    );
  }
  const run = await client.post<Run>(runsPath(dagId), body);
  if (!options.unpause && !options.wait && run.state === 'queued' && (await isPaused(client, dagId))) {
    warn(context, `DAG ${dagId} is paused, so the run waits; let it go with: svc dags unpause ${dagId}`);
  }
  return run;
}

const isPaused = async (client: Client, dagId: string): Promise<boolean> =>
  (await client.get<Dag>(dagPath(dagId))).is_paused;
