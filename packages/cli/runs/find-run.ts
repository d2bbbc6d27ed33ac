import type { DagRun } from '@svc/client/wire-types.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';

/** Returns the named run, or else the newest run of the DAG. */
export async function findRun(client: Client, dagId: string, runId: string | undefined): Promise<DagRun> {
  if (runId !== undefined)
    return client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path: { dag_id: dagId, dag_run_id: runId } });
  const { dag_runs: newest } = await client.get('/api/v2/dags/{dag_id}/dagRuns', {
    path: { dag_id: dagId },
    query: { limit: 1 },
  });
  const [run] = newest;
  if (run !== undefined) return run;
  throw new CliError(`DAG ${dagId} has no runs`, {
    exitCode: EXIT.notFound,
    hint: `start one with: svc runs trigger ${dagId}`,
  });
}
