/**
 * How the example DAGs of providers ended on Airflow 3.2.2 with the servers of servers.ts: golden/provider-example-states.json, written by
 * `node scripts/provider-example-states.ts --record`. Why one ends failed there is written into it by hand, and kept.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEnd } from '../airflow/example-states.ts';

/** `because`: why Airflow ends it failed, here and with these servers. */
export type RecordedEnd = RunEnd & { because?: string };
/** By file, then by DAG. */
export type RecordedEnds = Record<string, Record<string, RecordedEnd>>;
export type StateDifference = { file: string; dag: string; task: string; airflow: string; here: string };

/** After the start date of every example: before it, Airflow makes no task instances. */
export const LOGICAL_DATE = '2026-01-05T00:00:00+00:00';

/** Where we mean to differ, by file, and why. */
const AIRFLOW_2_NAME =
  'a template has execution_date, which Airflow 3 does not know any more; here it is known, with a warning';
const EXPLAINED: Readonly<Record<string, string>> = {
  'system/amazon/aws/example_http_to_s3.py':
    'a task leaves a server running in the background for the next one; what an attempt leaves behind is ended here',
  'system/papermill/example_papermill.py': AIRFLOW_2_NAME,
  'system/papermill/example_papermill_remote_verify.py': AIRFLOW_2_NAME,
};

const FILE = join(import.meta.dirname, 'golden', 'provider-example-states.json');

export const readRecorded = (): RecordedEnds =>
  existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as RecordedEnds) : {};

/** Keeps what is said of the others, and why this one fails if it still does. */
export function keepRecorded(file: string, dag: string, end: RunEnd): void {
  const all = readRecorded();
  const because = all[file]?.[dag]?.because;
  const kept = end.state === 'failed' ? { ...end, because: because ?? '' } : end;
  const next = { ...all, [file]: { ...all[file], [dag]: kept } };
  const sorted = Object.fromEntries(Object.entries(next).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** Why it may end otherwise here. */
export const explained = (file: string): string | undefined => EXPLAINED[file];

/** The run is the task without a name. */
export function stateDifferences(
  file: string,
  dag: string,
  there: RunEnd,
  here: RunEnd | undefined,
): StateDifference[] {
  const tasks = new Set([...Object.keys(there.instances), ...Object.keys(here?.instances ?? {})]);
  const rows = [...tasks].toSorted().map((task) => ({
    task,
    airflow: there.instances[task] ?? 'absent',
    here: here?.instances[task] ?? 'absent',
  }));
  rows.push({ task: '', airflow: there.state, here: here?.state ?? 'no run' });
  return rows.filter((row) => row.airflow !== row.here).map((row) => ({ file, dag, ...row }));
}
