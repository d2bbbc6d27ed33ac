/**
 * The same DAG files on Airflow 3.2.2 and here: every task instance and every run must end in the same state, and tasks of
 * DAGs with the tag "values" must return the same. What Airflow said is in golden/, written by scripts/golden/run_states.py (`DAG.test()`) and scripts/live-states.ts (its scheduler);
 * here a real control plane runs them with real Python processes. By day, each feature is run once (states-at-night.ts).
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { CompiledDag } from '@svc/compiler/compiler.ts';
import { STATES_AT_NIGHT } from '@svc/testing/airflow/states-at-night.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { apiCaller, tokenOf } from '@svc/testing/server/api-caller.ts';
import type { Api } from '@svc/testing/server/api-caller.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';

type RunEnd = {
  state: string;
  instances: Record<string, string | null>;
  /** Of DAGs with the tag "values": what each instance returned. */
  values?: Record<string, unknown>;
  /** Of the same: names by map_index_template. */
  names?: Record<string, string>;
};
type Dag = CompiledDag & { path: string };
type Run = { dag_run_id: string; state: string };
type Instance = { task_id: string; map_index: number; state: string | null; rendered_map_index?: string | null };
type Value = { task_id: string; map_index: number; key: string };
type Difference = { where: string; airflow: string; here: string };

const DAGS_FOLDER = join(import.meta.dirname, '../../../python/tests/run_dags');
const golden = (file: string): Record<string, RunEnd[]> =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'golden', file), 'utf8')) as Record<string, RunEnd[]>;
/** The scheduler has the last word about DAGs that are in both. */
const GOLDEN = { ...golden('run-states.json'), ...golden('live-states.json') };
const isRun = (dagId: string): boolean => IS_NIGHTLY || STATES_AT_NIGHT[dagId] === undefined;
const EXPECTED = Object.fromEntries(Object.entries(GOLDEN).filter(([dagId]) => isRun(dagId)));

/** Where we mean to differ, as `DAG id/run number/instance`, and why. One that explains nothing any more fails the test. */
const EXPLAINED: Record<string, string> = {
  'group_with_branch/0/steps.way_1[1]':
    'a defect of Airflow 3.2: a branch in a mapped group skips nothing (issue 67265)',
  'group_with_branch/0/steps.way_2[0]':
    'a defect of Airflow 3.2: a branch in a mapped group skips nothing (issue 67265)',
};

const RUNS_AT_ONCE = 8;
const ALL_MUST_END_WITHIN_MS = 1_200_000;
const HOOK_TIMEOUT_MS = 1_500_000;

let server: ServerProcess;
let request: Api;
let token = '';
let closeAll: () => Promise<void> = async () => undefined;
let compiled: string[] = [];
const ended = new Map<string, RunEnd[]>();

beforeAll(async () => {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'svc-states-'));
  const python = await pythonEnvironment();
  server = await startServerProcess({
    settings: {
      'database.url': database.url,
      'executor.type': 'subprocess',
      'logs.dir': join(folder, 'logs'),
      python,
    },
  });
  closeAll = async () => {
    await server.stop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  await server.untilReady();
  token = await tokenOf(server.url, { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password });
  request = apiCaller(server, token);
  const dags = await compileAll(python);
  compiled = dags.map(({ dag_id: dagId }) => dagId);
  await runAll(dags.filter(({ dag_id: dagId }) => isRun(dagId)));
}, HOOK_TIMEOUT_MS);

afterAll(() => closeAll());

async function compileAll(python: string): Promise<Dag[]> {
  const compiler = createCompiler({ python });
  try {
    const files = readdirSync(DAGS_FOLDER).filter((name) => name.endsWith('.py') && name !== 'steps.py');
    const found: Dag[] = [];
    for (const file of files) {
      const path = join(DAGS_FOLDER, file);
      const answer = await compiler.compile({ path, dagsFolder: DAGS_FOLDER });
      if (!answer.ok) throw new Error(`${file}: ${answer.error.message}`);
      found.push(...answer.dags.map((dag) => ({ ...dag, path })));
    }
    return found;
  } finally {
    await compiler.close();
  }
}

async function runAll(dags: readonly Dag[]): Promise<void> {
  const deadline = Date.now() + ALL_MUST_END_WITHIN_MS;
  const isScheduled = ({ spec }: Dag): boolean => spec.dag.tags.includes('scheduled');
  const scheduled = dags.filter(isScheduled);
  const waiting = dags.filter((dag) => !isScheduled(dag));
  // All before the first run by hand: some start runs of others.
  for (const dag of [...scheduled, ...waiting]) await register(dag);
  const work = async (): Promise<void> => {
    for (let dag = waiting.shift(); dag; dag = waiting.shift()) {
      ended.set(dag.dag_id, await runAsTagged(dag, deadline));
    }
  };
  await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work));
  // Read last: what must wait for ever has had time to do otherwise.
  for (const { dag_id: dagId } of scheduled) ended.set(dagId, await scheduledRuns(dagId, deadline));
}

const THEIR_DAY = /^on (\S+)$/;
const THEIR_BACKFILL = /^backfill (\S+) (\S+)$/;
const midnight = (day: string | undefined): string | null => (day === 'none' ? null : `${day}T00:00:00.000Z`);

/** Tags may say for which days; otherwise as many runs as Airflow had, a day each. */
async function runAsTagged({ dag_id: dagId, spec }: Dag, deadline: number): Promise<RunEnd[]> {
  const withValues = spec.dag.tags.includes('values');
  for (const tag of spec.dag.tags) {
    const range = THEIR_BACKFILL.exec(tag);
    if (!range) continue;
    const dates = { from_date: midnight(range[1]), to_date: midnight(range[2]) };
    await request('POST', '/backfills', { dag_id: dagId, ...dates, max_active_runs: 9 });
    return scheduledRuns(dagId, deadline);
  }
  const days = spec.dag.tags.toSorted().flatMap((tag) => THEIR_DAY.exec(tag)?.[1] ?? []);
  const expected = EXPECTED[dagId] ?? [];
  const dates =
    days.length > 0
      ? days.map(midnight)
      : expected.map((_, number) => new Date(Date.UTC(2024, 0, 1 + number)).toISOString());
  const runs: RunEnd[] = [];
  for (const logicalDate of dates) runs.push(await runOnce(dagId, { logicalDate, deadline, withValues }));
  return runs;
}

async function register({ dag_id: dagId, spec, path }: Dag): Promise<void> {
  await request('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: path });
  await request('PATCH', `/dags/${dagId}`, { is_paused: false });
}

/** A run that does not end is compared as it stands. */
async function runOnce(
  dagId: string,
  { logicalDate, deadline, withValues }: { logicalDate: string | null; deadline: number; withValues: boolean },
): Promise<RunEnd> {
  const runs = `/dags/${dagId}/dagRuns`;
  const { dag_run_id: runId } = await request<Run>('POST', runs, { logical_date: logicalDate });
  const path = `${runs}/${encodeURIComponent(runId)}`;
  let run = await request<Run>('GET', path);
  // A busy control plane may refuse to wait.
  for (; !isOver(run) && Date.now() < deadline; run = await request<Run>('GET', path)) await untilEnded(path, deadline);
  return { ...(await endOf(dagId, run)), ...(withValues && (await valuesOf(dagId, run))) };
}

const isOver = ({ state }: Run): boolean => state === 'success' || state === 'failed';

/** One request for each run: requests that ask again and again would be most of the server's work. */
async function untilEnded(path: string, deadline: number): Promise<void> {
  const signal = AbortSignal.timeout(Math.max(deadline - Date.now(), 0));
  await fetch(`${server.url}/api/v2${path}/wait?interval=0.25`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    signal,
  })
    .then((response) => response.text())
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
}

/** Some of these never end, so they are waited for until they stand as on Airflow. */
async function scheduledRuns(dagId: string, deadline: number): Promise<RunEnd[]> {
  for (;;) {
    const path = `/dags/${dagId}/dagRuns?order_by=logical_date`;
    const { dag_runs: runs } = await request<{ dag_runs: Run[] }>('GET', path);
    const ends = await Promise.all(runs.map((run) => endOf(dagId, run)));
    if (Date.now() > deadline || compareRuns(dagId, ends).length === 0) return ends;
    await sleep(500);
  }
}

async function endOf(dagId: string, { dag_run_id: runId, state }: Run): Promise<RunEnd> {
  const instances = await instancesOf(dagId, runId);
  return { state, instances: Object.fromEntries(instances.map((instance) => [nameOf(instance), instance.state])) };
}

async function instancesOf(dagId: string, runId: string): Promise<Instance[]> {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances?limit=1000`;
  return (await request<{ task_instances: Instance[] }>('GET', path)).task_instances;
}

const nameOf = ({ task_id: id, map_index: index }: { task_id: string; map_index: number }): string =>
  index < 0 ? id : `${id}[${index}]`;

async function valuesOf(
  dagId: string,
  { dag_run_id: runId }: Run,
): Promise<Pick<Required<RunEnd>, 'values' | 'names'>> {
  const tasks = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
  const { xcom_entries: found } = await request<{ xcom_entries: Value[] }>('GET', `${tasks}/~/xcomEntries?limit=1000`);
  const values: Record<string, unknown> = {};
  for (const entry of found.filter(({ key }) => key === 'return_value')) {
    const path = `${tasks}/${entry.task_id}/xcomEntries/return_value?map_index=${entry.map_index}&stringify=false`;
    values[nameOf(entry)] = (await request<{ value: unknown }>('GET', path)).value;
  }
  const named = (await instancesOf(dagId, runId)).flatMap((instance): [string, string][] => {
    const { map_index: index, rendered_map_index: shown } = instance;
    return index >= 0 && shown && shown !== String(index) ? [[nameOf(instance), shown]] : [];
  });
  return { values, names: Object.fromEntries(named) };
}

const compare = (): Difference[] =>
  Object.keys(EXPECTED).flatMap((dagId) => compareRuns(dagId, ended.get(dagId) ?? []));

function compareRuns(dagId: string, ends: readonly RunEnd[]): Difference[] {
  const expected = EXPECTED[dagId] ?? [];
  return Array.from({ length: Math.max(expected.length, ends.length) }, (_, number) => {
    const [theirs, ours] = [expected[number], ends[number]];
    const names = new Set([...Object.keys(theirs?.instances ?? {}), ...Object.keys(ours?.instances ?? {})]);
    const rows = [...names].toSorted().map((name) => ({
      where: `${dagId}/${number}/${name}`,
      airflow: stateIn(theirs, name),
      here: stateIn(ours, name),
    }));
    rows.push(...valueRows(`${dagId}/${number}`, { theirs, ours }));
    rows.push({ where: `${dagId}/${number}`, airflow: theirs?.state ?? 'no run', here: ours?.state ?? 'no run' });
    return rows.filter((row) => row.airflow !== row.here);
  }).flat();
}

function valueRows(
  where: string,
  { theirs, ours }: { theirs?: RunEnd | undefined; ours?: RunEnd | undefined },
): Difference[] {
  return (['values', 'names'] as const).flatMap((kind) => {
    const [expected = {}, found = {}] = [theirs?.[kind], ours?.[kind]];
    const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])].toSorted();
    return names
      .filter((name) => !isDeepStrictEqual(expected[name], found[name]))
      .map((name) => ({
        where: `${where}/${name} ${kind}`,
        airflow: JSON.stringify(expected[name]) ?? 'none',
        here: JSON.stringify(found[name]) ?? 'none',
      }));
  });
}

function stateIn(run: RunEnd | undefined, name: string): string {
  const state = run?.instances[name];
  return state === undefined ? 'absent' : (state ?? 'none');
}

function table(differences: readonly Difference[]): string {
  const rows = differences.map(({ where, airflow, here }) => {
    const why = EXPLAINED[where] ?? 'UNEXPLAINED';
    return `  ${where.padEnd(60)} Airflow ${airflow.padEnd(16)} here ${here.padEnd(16)} ${why}`;
  });
  return rows.join('\n');
}

describe('the same DAG files on Airflow and here', () => {
  it('end in the same states, every instance and every run', () => {
    const differences = compare();
    if (differences.length > 0) process.stdout.write(`Differences to Airflow:\n${table(differences)}\n`);
    expect(differences.filter(({ where }) => EXPLAINED[where] === undefined)).toEqual([]);
    expect(Object.keys(EXPLAINED).toSorted()).toEqual(differences.map(({ where }) => where).toSorted());
  });

  it('are many, and none is left out on either side', () => {
    expect(compiled.toSorted()).toEqual(Object.keys(GOLDEN).toSorted());
    expect([...ended.keys()].toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
    expect(ended.size).toBeGreaterThanOrEqual(85);
  });

  it('have a DAG by day for each that runs only at night', () => {
    for (const [dagId, byDay] of Object.entries(STATES_AT_NIGHT)) {
      expect(Object.keys(GOLDEN)).toContain(dagId);
      expect(Object.keys(GOLDEN)).toContain(byDay);
      expect(STATES_AT_NIGHT[byDay], `${byDay} runs only at night itself`).toBeUndefined();
    }
  });
});
