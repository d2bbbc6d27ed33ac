/** Runs example DAGs on a control plane of ours, each once, with real Python processes, and says how they ended. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { PROCESS_ADMIN, startServerProcess } from '../server/server-process.ts';
import { BEFORE, BESIDE, CONF, LATER_DATES, LOGICAL_DATE, OUTSIDE, comesLast, isSettled } from './example-states.ts';
import type { RunEnd } from './example-states.ts';

type Api = <T>(method: string, path: string, body?: object) => Promise<T>;
type Run = { dag_run_id: string; state: string };
type Instance = { task_id: string; map_index: number; state: string | null };
export type ExampleDag = { dagId: string; file: string; spec: object };
export type ExampleEnd = { dag: ExampleDag; end: RunEnd; seconds: number };

/** Each is mostly a process that starts; more at once than this only makes all of them slower. */
const RUNS_AT_ONCE = 4;
const RUN_MUST_END_WITHIN_MS = 400_000;

const fileOf = (unit: CompiledUnit): string => join(unit.unit.root, unit.source);

/** What the repository defines, and which of its files are refused, in the words of the compiler. */
export async function compileExamples({
  python,
  repository,
}: {
  python: string;
  repository: string;
}): Promise<{ dags: ExampleDag[]; refused: { file: string; message: string }[] }> {
  const compiler = createCompiler({ python });
  const units = await compileWorkspace({ workspace: repository, compiler }).finally(() => compiler.close());
  return {
    dags: units.flatMap((unit) =>
      unit.ok ? unit.artifacts.map(({ dagId, spec }) => ({ dagId, spec, file: fileOf(unit) })) : [],
    ),
    refused: units.flatMap((unit) =>
      unit.ok ? [] : [{ file: unit.source, message: unit.problems[0]?.message ?? 'does not load' }],
    ),
  };
}

type RunInput = {
  /** All are registered, since some start others. */
  dags: readonly ExampleDag[];
  /** Which are run; all but those that need an outside service, when it is empty. */
  only?: readonly string[];
  onEnd?: (end: ExampleEnd) => void;
};

export async function runExamples(input: RunInput & { databaseUrl: string; python: string }): Promise<ExampleEnd[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-examples-'));
  const server = await startServerProcess({
    settings: {
      'database.url': input.databaseUrl,
      'executor.type': 'subprocess',
      'logs.dir': join(folder, 'logs'),
      python: input.python,
    },
    logFile: join(folder, 'server.log'),
  });
  try {
    await server.untilReady();
    return await runAll({ ...input, api: await connect(server.url) });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function connect(url: string): Promise<Api> {
  let token = '';
  const request = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const login = { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password };
  token = (await request<{ access_token: string }>('POST', '/auth/token', login)).access_token;
  return (method, path, body) => request(method, `/api/v2${path}`, body);
}

async function runAll({ api, dags, only = [], onEnd }: RunInput & { api: Api }): Promise<ExampleEnd[]> {
  for (const { dagId, spec, file } of dags) await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: file });
  const runnable = dags.filter(
    ({ dagId }) => OUTSIDE[dagId] === undefined && (only.length === 0 || only.includes(dagId)),
  );
  const ends: ExampleEnd[] = [];
  const runEach = async (waiting: ExampleDag[]): Promise<void> => {
    for (let dag = waiting.shift(); dag; dag = waiting.shift()) {
      const began = Date.now();
      const end = { dag, end: await runOnce(api, dag.dagId), seconds: (Date.now() - began) / 1_000 };
      ends.push(end);
      onEnd?.(end);
    }
  };
  for (const isLast of [false, true]) {
    const waiting = runnable.filter(({ dagId }) => comesLast(dagId) === isLast);
    await Promise.all(Array.from({ length: RUNS_AT_ONCE }, () => runEach(waiting)));
  }
  return ends;
}

/** Paused again afterwards: what schedules and assets would start is not compared, and would take time from the others. */
async function runOnce(api: Api, dagId: string): Promise<RunEnd> {
  const before = BEFORE[dagId];
  const awake = [dagId, ...(BESIDE[dagId] ?? []), ...(before === undefined ? [] : [before])];
  const pause = (isPaused: boolean): Promise<unknown> =>
    Promise.all(awake.map((id) => api('PATCH', `/dags/${id}`, { is_paused: isPaused })));
  await pause(false);
  const runs = `/dags/${dagId}/dagRuns`;
  const deadline = Date.now() + RUN_MUST_END_WITHIN_MS;
  if (before !== undefined) {
    // It may have run already, as one of those that are compared.
    await api('POST', `/dags/${before}/dagRuns`, { logical_date: LOGICAL_DATE }).catch(() => undefined);
  }
  const { dag_run_id: id } = await api<Run>('POST', runs, {
    logical_date: LATER_DATES[dagId] ?? LOGICAL_DATE,
    conf: CONF[dagId] ?? {},
  });
  const path = `${runs}/${encodeURIComponent(id)}`;
  let end = await endOf(api, path);
  while (!isSettled(dagId, end) && Date.now() < deadline) {
    await sleep(200);
    // A busy server answers 503 now and then, and the run continues.
    end = await endOf(api, path).catch(() => end);
  }
  await pause(true);
  return end;
}

/** How the run stands; of ours or of an Airflow. */
export async function endOf(api: Api, path: string): Promise<RunEnd> {
  const { state } = await api<Run>('GET', path);
  const { task_instances: instances } = await api<{ task_instances: Instance[] }>(
    'GET',
    `${path}/taskInstances?limit=100`,
  );
  return { state, instances: namedStates(instances) };
}

/** `task`, or `task[2]` of a mapped one. */
function namedStates(instances: readonly Instance[]): Record<string, string | null> {
  const named = instances.map(({ task_id: task, map_index: index, state }): [string, string | null] => [
    index < 0 ? task : `${task}[${index}]`,
    state,
  ]);
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
