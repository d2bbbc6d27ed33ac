/**
 * How Airflow's example DAGs end here and how they ended on Airflow 3.2.2 (golden/example-states.json, written by
 * `node scripts/example-states.ts --record`), and what has to be known about each to compare the two.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type RunEnd = { state: string; instances: Record<string, string | null> };
/** By package, then by DAG id, or `DAG id@moment` where the end depends on the clock. */
export type ExampleEnds = Record<string, Record<string, RunEnd>>;
export type Difference = { task: string; airflow: string; here: string };
export type Comparison = { package: string; dag: string } & (
  | { result: 'same'; tasks: number }
  | { result: 'differs'; differences: Difference[]; why?: string }
  | { result: 'needs an outside service'; service: string }
  | { result: 'not recorded'; why: string }
);

const GOLDEN_FILE = join(import.meta.dirname, 'golden', 'example-states.json');

/** DAGs that cannot end the same everywhere, and whom they need. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  example_dag_decorator: 'httpbingo.org',
  example_hitl_operator: 'a person who answers',
  example_kubernetes_executor: 'a Kubernetes cluster',
  example_local_kubernetes_executor: 'a Kubernetes cluster',
  example_retry_policy: 'api.example.com',
  tutorial_objectstorage: 'air-quality-api.open-meteo.com and a bucket of S3',
};

/** Where we mean to differ, as `DAG id/task` (or the DAG id alone, for the run), and why. */
const ONE_URI_TWO_NAMES =
  'two examples give the URI s3://output/1.txt different names: Airflow keeps the first asset active and fails tasks of the other; here both are there';
const NO_ASYNC_STORE = 'the store of Airflow 3.3.2 has no `aget` in DAG.test(), which its own example calls';
const EXPLAINED: Readonly<Record<string, string>> = {
  example_task_state_store_async: NO_ASYNC_STORE,
  'example_task_state_store_async/ingest_pages': NO_ASYNC_STORE,
  read_asset_event: ONE_URI_TWO_NAMES,
  'read_asset_event/read_asset_event': ONE_URI_TWO_NAMES,
  read_asset_event_from_classic: ONE_URI_TWO_NAMES,
  'read_asset_event_from_classic/read_asset_event_from_classic': ONE_URI_TWO_NAMES,
};

/** What a person would enter into the form. */
export const CONF: Readonly<Record<string, object>> = {
  example_params_ui_tutorial: { required_field: 'ten letters or more' },
};

/** These wait for an hour, there as here; the run is compared as it stands when all else has ended. */
const STILL_WAITING: Readonly<Record<string, readonly string[]>> = {
  example_sensors: ['timeout_after_second_date_in_the_future_async', 'print_date_in_bash'],
};

const ENDED = new Set<string | null>(['success', 'failed', 'skipped', 'upstream_failed', 'removed']);

export function isSettled(dagId: string, { state, instances }: RunEnd): boolean {
  if (state === 'success' || state === 'failed') return true;
  const waiting = STILL_WAITING[dagId];
  return (
    waiting !== undefined &&
    Object.entries(instances).every(([task, end]) => waiting.includes(task) || ENDED.has(end)) &&
    Object.keys(instances).length > 0
  );
}

/** DAGs whose runs another waits for: they have to be unpaused while it runs. */
export const BESIDE: Readonly<Record<string, readonly string[]>> = { example_external_task: ['child_dag'] };

/** DAGs that must have run for the same date before. */
export const BEFORE: Readonly<Record<string, string>> = {
  example_external_task_marker_child: 'example_external_task_marker_parent',
};

/** They read what other examples wrote, or wait for their runs. On Airflow the order is that of the alphabet. */
export const comesLast = (dagId: string): boolean =>
  dagId.startsWith('read_asset_event') || BESIDE[dagId] !== undefined || BEFORE[dagId] !== undefined;

/** On a Monday, so that nothing sleeps in at the weekend; with an even minute. */
export const LOGICAL_DATE = '2024-01-01T00:00:00+00:00';

/** These begin in 2026: a run for an earlier date has no tasks. */
const FIRST_MONDAY = '2026-01-05T00:00:00+00:00';
export const LATER_DATES: Readonly<Record<string, string>> = {
  example_asset_state_store_consumer: FIRST_MONDAY,
  example_asset_state_store_producer: FIRST_MONDAY,
  example_task_state_store: FIRST_MONDAY,
  example_task_state_store_async: FIRST_MONDAY,
  example_task_state_store_mapped: FIRST_MONDAY,
};

/**
 * Run by day, one or two for each construct; both packages have some of these names. The others repeat a construct, wait for
 * a minute or install packages, and run at night. All are compiled and registered by day, too.
 */
const BY_DAY: ReadonlySet<string> = new Set([
  // assets and aliases
  'asset_produces_1',
  'asset_alias_example_alias_producer',
  'asset_with_extra_by_context',
  'consumes_asset_decorator',
  // branches and skipping
  'example_branch_datetime_operator',
  'example_branch_dop_operator_v3',
  'example_branch_labels',
  'example_nested_branch_dag',
  'example_short_circuit_operator',
  'example_skip_dag',
  'example_weekday_branch_operator',
  'latest_only_with_trigger',
  // mapped tasks, task groups, set-up and teardown
  'example_dynamic_task_mapping',
  'example_task_group',
  'example_task_group_mapping',
  'example_task_mapping_second_order',
  'example_setup_teardown',
  'example_setup_teardown_taskflow',
  // values, parameters and templates
  'example_params_ui_tutorial',
  'example_xcom_args_with_operators',
  'tutorial_taskflow_api',
  'tutorial_taskflow_templates',
  // waiting for moments and for other runs
  'example_external_task_marker_child',
  'example_time_delta_sensor_async',
  'example_trigger_controller_dag',
  // runs that fail
  'example_failed_dag',
  'example_passing_params_via_test_command',
]);

export const runsByDay = (dagId: string): boolean => BY_DAY.has(dagId);

/** They take one of these by chance. */
const BY_CHANCE: Readonly<Record<string, RegExp>> = {
  example_branch_operator: /_[abcd]$/,
  example_branch_python_operator_decorator: /_[abcd]$/,
};

const dayOf = (now: Date): string =>
  ['weekend', 'monday'][now.getUTCDay()] ?? (now.getUTCDay() === 6 ? 'weekend' : 'midweek');

/** Their tasks ask which day or hour it is, so there is one end for each of these moments. */
const MOMENTS: Readonly<Record<string, (now: Date) => string>> = {
  example_branch_datetime_operator_2: (now) => (now.getUTCHours() < 15 ? 'before 15:00' : 'after 15:00'),
  // Between 23:00 and midnight its "in an hour" is a time that has passed.
  example_sensors: (now) =>
    now.getUTCHours() === 23 ? 'after 23:00' : now.getUTCDay() === 1 ? 'monday' : 'other days',
  example_weekday_branch_operator: dayOf,
};

export function goldenKey(dagId: string, now: Date): string {
  const moment = MOMENTS[dagId]?.(now);
  return moment === undefined ? dagId : `${dagId}@${moment}`;
}

export const readGolden = (): ExampleEnds => JSON.parse(readFileSync(GOLDEN_FILE, 'utf8')) as ExampleEnds;
export const writeGolden = (ends: ExampleEnds): void =>
  writeFileSync(GOLDEN_FILE, `${JSON.stringify(ends, null, 2)}\n`);

/** How a DAG ended here, beside how it ended there. */
export function compareExample(input: {
  package: string;
  dag: string;
  golden: ExampleEnds;
  here: RunEnd | undefined;
  now: Date;
}): Comparison {
  const { package: name, dag, golden, here, now } = input;
  const base = { package: name, dag };
  const service = OUTSIDE[dag];
  if (service !== undefined) return { ...base, result: 'needs an outside service', service };
  const key = goldenKey(dag, now);
  const there = golden[name]?.[key];
  if (there === undefined) return { ...base, result: 'not recorded', why: `Airflow has not run ${key}` };
  const differences = differencesOf(byChanceAside(dag, there), here && byChanceAside(dag, here));
  if (differences.length === 0) return { ...base, result: 'same', tasks: Object.keys(there.instances).length };
  const reasons = differences.map(({ task }) => EXPLAINED[task === '' ? dag : `${dag}/${task}`]);
  const why = reasons.every((reason) => reason !== undefined) ? [...new Set(reasons)].join('; ') : undefined;
  return { ...base, result: 'differs', differences, ...(why !== undefined && { why }) };
}

/** The end without what chance decides, as one text. */
export function endText(dag: string, run: RunEnd): string {
  const { state, instances } = byChanceAside(dag, run);
  const tasks = Object.entries(instances).map(([task, end]) => `${task} ${end ?? 'none'}`);
  return [state, ...tasks.toSorted()].join(', ');
}

/** Which way was taken is left out; that one was, and what happened to the others, is not. */
function byChanceAside(dag: string, run: RunEnd): RunEnd {
  const pattern = BY_CHANCE[dag];
  if (!pattern) return run;
  const instances: Record<string, string | null> = {};
  const ways = new Map<string, string[]>();
  for (const [task, state] of Object.entries(run.instances)) {
    const kind = task.replace(pattern, '');
    if (kind === task) instances[task] = state;
    else ways.set(kind, [...(ways.get(kind) ?? []), state ?? 'none']);
  }
  for (const [kind, states] of ways) instances[`${kind}_…`] = states.toSorted().join(', ');
  return { state: run.state, instances };
}

function differencesOf(there: RunEnd, here: RunEnd | undefined): Difference[] {
  const names = new Set([...Object.keys(there.instances), ...Object.keys(here?.instances ?? {})]);
  const rows = [...names]
    .toSorted()
    .map((task) => ({ task, airflow: stateIn(there, task), here: stateIn(here, task) }));
  rows.push({ task: '', airflow: there.state, here: here?.state ?? 'no run' });
  return rows.filter(({ airflow, here: ours }) => airflow !== ours);
}

function stateIn(run: RunEnd | undefined, task: string): string {
  const state = run?.instances[task];
  return state === undefined ? 'absent' : (state ?? 'none');
}
