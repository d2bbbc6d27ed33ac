import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { runPath, runsPath } from './fields.ts';
import type { Run } from './fields.ts';

/** The run that is named, or else the newest of the DAG. */
export async function findRun(client: Client, dagId: string, runId: string | undefined): Promise<Run> {
  if (runId !== undefined) return client.get<Run>(runPath({ dagId, runId }));
  const { dag_runs: newest } = await client.get<{ dag_runs: Run[] }>(runsPath(dagId), { limit: 1 });
  const [run] = newest;
  if (run !== undefined) return run;
  throw new CliError(`DAG ${dagId} has no runs`, {
    exitCode: EXIT.notFound,
    hint: `start one with: svc runs trigger ${dagId}`,
  });
}
