/** Brings a broken DAG to the point where somebody would ask what is wrong with it. */
import { eventually } from '../eventually.ts';
import type { BrokenDag } from './broken-dags.ts';

export type Api = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

/** A machine that does ten things at once starts Python slowly. */
const WAIT = { everyMs: 500, withinMs: 300_000 };

const OVER = new Set(['failed', 'success']);

type Runs = { dag_runs: { dag_run_id: string; state: string }[] };
type Instances = { task_instances: { task_id: string; state: string | null }[] };

/** Lets it begin. Waiting is apart from that, so that all can run at the same time. */
export async function beginBrokenDag(api: Api, { name, begins }: BrokenDag): Promise<string | undefined> {
  if (begins === 'never') {
    await api('PATCH', `/dags/${name}`, { is_paused: false }).catch(() => undefined); // one of them has no DAG at all
    return undefined;
  }
  await api('PATCH', `/dags/${name}`, { is_paused: false });
  if (begins !== 'scheduled')
    return (await api<{ dag_run_id: string }>('POST', `/dags/${name}/dagRuns`, {})).dag_run_id;
  return eventually(async () => {
    const { dag_runs: runs } = await api<Runs>('GET', `/dags/${name}/dagRuns?order_by=-run_after`);
    if (runs.length < 2) throw new Error(`${name} has ${runs.length} scheduled runs`);
    return runs[0]?.dag_run_id ?? '';
  }, WAIT);
}

export async function brokenDagIsThere(api: Api, { name, reached }: BrokenDag, runId: string): Promise<void> {
  const path = `/dags/${name}/dagRuns/${encodeURIComponent(runId)}`;
  await eventually(async () => {
    if (reached === undefined) {
      const { state } = await api<{ state: string }>('GET', path);
      if (!OVER.has(state)) throw new Error(`${name} is ${state}`);
      return true;
    }
    const { task_instances: instances } = await api<Instances>('GET', `${path}/taskInstances`);
    const states = Object.fromEntries(instances.map((one) => [one.task_id, one.state]));
    if (!Object.entries(reached).every(([id, state]) => states[id] === state)) {
      throw new Error(`${name}: ${JSON.stringify(states)}`);
    }
    return true;
  }, WAIT);
}
