import type { DagRun, DagRunCreate } from '@svc/client/wire-types.ts';
import { usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';

export type StartOptions = { wait?: true; unpause?: true };

/** Starts a run. A run of a paused DAG waits, so the command says so and does not wait for it. */
export async function startRun(
  context: CliContext,
  input: { client: Client; dagId: string; body: DagRunCreate; options: StartOptions },
): Promise<DagRun> {
  const { client, dagId, body, options } = input;
  const path = { dag_id: dagId };
  if (options.unpause) await client.patch('/api/v2/dags/{dag_id}', { path, body: { is_paused: false } });
  else if (options.wait && (await isPaused(client, dagId))) {
    throw usageError(
      `DAG ${dagId} is paused: its run would wait until somebody unpauses it`,
      `add --unpause, or unpause it with: svc dags unpause ${dagId}`,
    );
  }
  const run = await client.post('/api/v2/dags/{dag_id}/dagRuns', { path, body });
  if (!options.unpause && !options.wait && run.state === 'queued' && (await isPaused(client, dagId))) {
    warn(context, `DAG ${dagId} is paused, so the run waits; let it go with: svc dags unpause ${dagId}`);
  }
  return run;
}

const isPaused = async (client: Client, dagId: string): Promise<boolean> =>
  (await client.get('/api/v2/dags/{dag_id}', { path: { dag_id: dagId } })).is_paused;
