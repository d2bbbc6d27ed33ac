/**
 * Listeners of plugins hear of runs: when one begins, and how it ends. They are code of authors and packages (OpenLineage), so a
 * worker of the run's version calls them, as it calls callbacks; what the plugins of a version listen to is in its spec.
 */
import type { SharedDb } from '../../db/database.ts';
import { requestListeners } from '../sql/callbacks.ts';
import type { RunWork } from './run-work.ts';

/** Airflow tells listeners a word beside the run; this one where nothing else is to be said. */
const MESSAGES = { running: '', success: 'success', failed: 'task_failure' } as const;

export type RunNews = {
  state: keyof typeof MESSAGES;
  message?: '' | 'all_tasks_deadlocked' | 'timed_out' | undefined;
};

/** True when somebody listens, and has to be called. */
export async function tellListeners(trx: SharedDb, { run, graph }: RunWork, news: RunNews): Promise<boolean> {
  const hook = `on_dag_run_${news.state}`;
  if (!graph.spec.plugins?.listens?.includes(hook)) return false;
  const message = news.message ?? MESSAGES[news.state];
  return requestListeners(trx, { tenantId: run.tenant_id, run: run.id, dagId: run.dag_id, hook, message });
}
