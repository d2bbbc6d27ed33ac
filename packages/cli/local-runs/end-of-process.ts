/** A replay whose process has ended before its task, by a signal for example, or whose DAG file does not load. */
import type { RecordedTry } from './recorded-try.ts';
import { WithoutResult } from './run-locally.ts';
import type { LocalResult } from './run-locally.ts';

export function endOf(error: unknown, { run, mapIndex, tryNumber }: RecordedTry, taskId: string): LocalResult {
  if (!(error instanceof WithoutResult)) throw error;
  const task = {
    task_id: taskId,
    map_index: mapIndex,
    state: 'failed',
    tries: tryNumber,
    seconds: null,
    value: null,
    error: error.error,
    line: error.line,
    xcoms: {},
    rendered: {},
  };
  return {
    dag_id: run.dag_id,
    run_id: run.dag_run_id,
    logical_date: run.logical_date,
    state: 'failed',
    seconds: null,
    tasks: [task],
  };
}
