/** Parts of a diagnosis that are not from a run: schedule, import errors, and the answer for a DAG without runs. */
import type { ImportError } from '@svc/client/wire-types.ts';
import { safeLines, safeText } from '@svc/spec/text/safe-text.ts';
import type { NoRun } from '../diagnosis/find-run.ts';
import { scheduleOf } from '../diagnosis/schedule.ts';
import { UNTRUSTED_NOTICE } from '../text/untrusted.ts';
import type { DiagnoseRunOutput } from './diagnose-run-shapes.ts';

const MAX_TRACE_LINES = 20;

export const importErrorsOf = (errors: readonly ImportError[]): DiagnoseRunOutput['import_errors'] =>
  errors.map(({ filename, timestamp, stack_trace: trace }) => ({
    file: safeText(filename, 500),
    at: timestamp,
    lines: safeLines(trace.split('\n').slice(-MAX_TRACE_LINES)),
  }));

const NO_COUNTS = { total: 0, failed: 0, up_for_retry: 0, upstream_failed: 0, skipped: 0, active: 0, waiting: 0 };

/** Returns a diagnosis without a run. */
export function noRunOf({ dagId, dag, importErrors }: NoRun): DiagnoseRunOutput {
  const schedule = dag === null ? null : scheduleOf(dag);
  const broken = importErrors.length > 0 ? ` ${filesWords(importErrors.length)}` : '';
  const summary =
    schedule === null
      ? `There is no DAG ${dagId}, so it has no runs.${broken}`
      : `DAG ${dagId} has never run: ${schedule.note ?? `its next run comes at ${schedule.next_run_after ?? 'a time that is not known'}`}.${broken}`;
  return {
    summary,
    dag_id: dagId,
    run_id: null,
    state: null,
    run_type: null,
    logical_date: null,
    logical_date_local: null,
    run_after: null,
    start_date: null,
    end_date: null,
    duration_seconds: null,
    version_numbers: [],
    counts: NO_COUNTS,
    failures: [],
    failures_not_shown: 0,
    retried: [],
    skipped: [],
    models: [],
    waiting: [],
    pools: [],
    run_waits_for: null,
    schedule,
    history: null,
    import_errors: importErrorsOf(importErrors),
    notice: UNTRUSTED_NOTICE,
  };
}

const filesWords = (count: number): string =>
  count === 1 ? 'A file that could define it does not compile.' : `${count} files that could define it do not compile.`;
