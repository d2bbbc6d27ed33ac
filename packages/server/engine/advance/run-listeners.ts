/**
 * Tells listeners of plugins when a run begins and how it ends. Listeners are code of authors and packages
 * (OpenLineage). Therefore a worker of the run's version calls them, like callbacks. The spec of a version names the
 * events to which its plugins listen.
 */
import type { SharedDb } from '../../db/database.ts';
import { requestListeners } from '../sql/callbacks.ts';
import type { RunWork } from './run-work.ts';

/** The message that Airflow passes to listeners with the run; these are the defaults. */
const MESSAGES = { running: '', success: 'success', failed: 'task_failure' } as const;

export type RunNews = {
  state: keyof typeof MESSAGES;
  message?: '' | 'all_tasks_deadlocked' | 'timed_out' | undefined;
};

/** Returns true when a plugin listens and a worker has to call it. */
export async function tellListeners(trx: SharedDb, { run, graph }: RunWork, news: RunNews): Promise<boolean> {
  const hook = `on_dag_run_${news.state}`;
  if (!graph.spec.plugins?.listens?.includes(hook)) return false;
  const message = news.message ?? MESSAGES[news.state];
  return requestListeners(trx, { tenantId: run.tenant_id, run: run.id, dagId: run.dag_id, hook, message });
}
