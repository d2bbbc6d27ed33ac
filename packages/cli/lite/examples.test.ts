/**
 * Every example on a real control plane with real Python processes: what a newcomer runs first must run, and do what its
 * own words promise. One is there to fail, and must.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '@svc/testing/eventually.ts';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';

type Run = { dag_run_id: string; run_type: string; state: string; logical_date: string | null };
type Instance = { task_id: string; map_index: number; state: string | null; try_number: number };

const ROOT = resolve(import.meta.dirname, '..', '..', '..');
const EXAMPLES = join(ROOT, 'examples');
const PROJECTS = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const FAILS = 'fails_on_purpose';
/** These start by themselves: by their schedule, and by the assets of another. */
const UNTRIGGERED = new Set(['moon_phases', 'bakery_shop']);
const CATCH_UP_RUNS = 14;
const ALL_MUST_END_WITHIN_MS = 300_000;
const HOOK_TIMEOUT_MS = 400_000;

let server: ServerProcess;
let token = '';
let closeAll: () => Promise<void> = async () => undefined;
const dagIds: string[] = [];
const warnings: string[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'svc-examples-'));
  const python = await pythonEnvironment();
  server = await startServerProcess({
    settings: { 'database.url': database.url, 'executor.type': 'subprocess', 'logs.dir': join(folder, 'logs'), python },
  });
  closeAll = async () => {
    await server.stop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  await server.untilReady();
  const login = { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password };
  token = (await request<{ access_token: string }>('POST', '/auth/token', login)).access_token;
  await registerAll(python);
  // All of them first: the event of an asset starts nothing in a DAG that is still paused.
  for (const dagId of dagIds) await api('PATCH', `/dags/${dagId}`, { is_paused: false });
  for (const dagId of dagIds) if (!UNTRIGGERED.has(dagId)) await trigger(dagId);
  await trigger('duckdb_etl', { engine: 'sqlite3' });
  await allEnded();
}, HOOK_TIMEOUT_MS);

afterAll(() => closeAll());

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const api = <T>(method: string, path: string, body?: object): Promise<T> => request(method, `/api/v2${path}`, body);
const trigger = (dagId: string, conf: object = {}): Promise<Run> =>
  api('POST', `/dags/${dagId}/dagRuns`, { conf, logical_date: null });

async function registerAll(python: string): Promise<void> {
  const compiler = createCompiler({ python });
  const units = await compileWorkspace({ workspace: EXAMPLES, compiler });
  await compiler.close();
  for (const unit of units) {
    if (!unit.ok) throw new Error(`${unit.unit.name}: ${unit.problems.map(({ message }) => message).join('; ')}`);
    warnings.push(...unit.warnings.map(({ message }) => `${unit.unit.name}: ${message}`));
    for (const { dagId, spec } of unit.artifacts) {
      await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: join(unit.unit.root, unit.source) });
      dagIds.push(dagId);
    }
  }
}

const runsOf = async (dagId: string): Promise<Run[]> =>
  (await api<{ dag_runs: Run[] }>('GET', `/dags/${dagId}/dagRuns?limit=100&order_by=run_after`)).dag_runs;

/** Nothing here says who runs when: the run that an asset starts exists only after the one that updated it. */
async function allEnded(): Promise<void> {
  const look = async (): Promise<void> => {
    const runs = (await Promise.all(dagIds.map(async (dagId) => [dagId, await runsOf(dagId)] as const))).map(
      ([dagId, all]) => {
        const wanted = dagId === 'moon_phases' ? CATCH_UP_RUNS : 1;
        const over = all.filter(({ state }) => state === 'success' || state === 'failed').length;
        return { dagId, states: all.map(({ state }) => state), isOver: all.length >= wanted && over === all.length };
      },
    );
    const open = runs.filter(({ isOver }) => !isOver);
    if (open.length > 0) throw new Error(`these have not ended: ${JSON.stringify(open)}`);
  };
  await eventually(look, { everyMs: 500, withinMs: ALL_MUST_END_WITHIN_MS });
}

async function firstRun(dagId: string): Promise<string> {
  const [run] = await runsOf(dagId);
  if (!run) throw new Error(`${dagId} has no run`);
  return `/dags/${dagId}/dagRuns/${encodeURIComponent(run.dag_run_id)}`;
}

const instancesOf = async (run: string): Promise<Instance[]> =>
  (await api<{ task_instances: Instance[] }>('GET', `${run}/taskInstances?limit=200`)).task_instances;
const statesOf = async (run: string): Promise<Record<string, string | null>> =>
  Object.fromEntries((await instancesOf(run)).map((instance) => [instance.task_id, instance.state]));
const valueOf = async (run: string, taskId: string): Promise<unknown> =>
  (await api<{ value: unknown }>('GET', `${run}/taskInstances/${taskId}/xcomEntries/return_value?deserialize=true`))
    .value;
const logOf = async (run: string, taskId: string, attempt: number): Promise<string> =>
  JSON.stringify(await api('GET', `${run}/taskInstances/${taskId}/logs/${attempt}?full_content=true`));

describe('the example projects', () => {
  it('are at least a dozen, compile without a warning, and explain themselves', async () => {
    expect(PROJECTS.length).toBeGreaterThanOrEqual(12);
    // moving_in reads a variable, whose value only a control plane has.
    expect(warnings.filter((warning) => !warning.includes('returned its default'))).toEqual([]);
    for (const dagId of dagIds) {
      const dag = await api<{ doc_md: string | null; tags: { name: string }[] }>('GET', `/dags/${dagId}/details`);
      expect(dag.doc_md, `doc_md of ${dagId}`).toBeTruthy();
      expect(dag.tags.map(({ name }) => name)).toContain('example');
    }
  });

  it.each(PROJECTS)('%s has its line in the guide and in the folder', (project) => {
    for (const file of ['docs/examples.md', 'examples/README.md']) {
      expect(readFileSync(join(ROOT, file), 'utf8')).toContain(`${project}/`);
    }
  });

  it('run green, but for the one that fails on purpose', async () => {
    const ends = await Promise.all(
      dagIds.map(async (dagId) => [dagId, [...new Set((await runsOf(dagId)).map(({ state }) => state))]] as const),
    );
    expect(Object.fromEntries(ends)).toEqual(
      Object.fromEntries(dagIds.map((dagId) => [dagId, [dagId === FAILS ? 'failed' : 'success']])),
    );
  });
});

describe('an example keeps its promise:', () => {
  it('fails_on_purpose shows a failure, what it keeps from running and what runs all the same', async () => {
    const run = await firstRun(FAILS);
    expect(await statesOf(run)).toEqual({
      climb: 'success',
      check_the_parachute: 'failed',
      jump: 'upstream_failed',
      pack_up: 'success',
    });
    expect(await logOf(run, 'check_the_parachute', 1)).toContain('let a professional fold it');
  });

  it('duckdb_etl gives the same answer in both databases, and tidies up', async () => {
    const runs = await runsOf('duckdb_etl');
    expect(runs).toHaveLength(2);
    const answers = runs.map(async ({ dag_run_id: id }) => {
      const run = `/dags/duckdb_etl/dagRuns/${encodeURIComponent(id)}`;
      expect(await statesOf(run)).toMatchObject({ report: 'success', close_warehouse: 'success' });
      return valueOf(run, 'busiest_hours');
    });
    const [asked, plain] = await Promise.all(answers);
    expect(asked).toHaveLength(5);
    expect(asked).toEqual(plain);
  });

  it('wait_for_file waits for the letter, and skips the one that never comes', async () => {
    const run = await firstRun('wait_for_file');
    expect(await statesOf(run)).toMatchObject({ letter_there: 'success', love_letter: 'skipped', answer: 'success' });
    expect(await valueOf(run, 'answer')).toBe(3);
  });

  it('bakery_oven starts bakery_shop, which reads what the events say', async () => {
    const [shop] = await runsOf('bakery_shop');
    expect(shop?.run_type).toBe('asset_triggered');
    expect(await valueOf(await firstRun('bakery_shop'), 'sell')).toBe('Today: 12 loaves, 8 slices');
  });

  it('pizza_order refuses what its form would not send', async () => {
    expect(await valueOf(await firstRun('pizza_order'), 'price')).toBe(11.1);
    await expect(trigger('pizza_order', { how_many: 11 })).rejects.toThrow('how_many');
  });

  it('flaky_weather comes through at the third try, and its callbacks have spoken', async () => {
    const run = await firstRun('flaky_weather');
    const asked = (await instancesOf(run)).find(({ task_id: id }) => id === 'ask_the_weather_station');
    expect(asked?.try_number).toBe(3);
    expect(await logOf(run, 'ask_the_weather_station', 1)).toContain('Another one follows');
    expect(await logOf(run, 'ask_the_weather_station', 3)).toContain('It worked at try 3');
  });

  it('bash_tour counts, skips by exit code 99 and notices a broken pipe', async () => {
    const run = await firstRun('bash_tour');
    expect(await statesOf(run)).toMatchObject({ only_if_many: 'skipped', draw: 'success' });
    expect(await valueOf(run, 'count_words')).toBe('11');
    expect(await valueOf(run, 'careful_pipe')).toBe('noticed: the pipe failed');
  });

  it('rocket_launch boards each member of the crew through the whole group', async () => {
    const boarded = (await instancesOf(await firstRun('rocket_launch'))).filter(({ task_id: id }) =>
      id.startsWith('boarding.'),
    );
    expect(boarded.map((instance) => `${instance.task_id} ${instance.map_index}`).sort()).toEqual(
      ['strap_in', 'suit_up'].flatMap((task) => [0, 1, 2].map((index) => `boarding.${task} ${index}`)),
    );
  });

  it('moon_phases has a run for every date, each with the moon of its own date', async () => {
    const runs = await runsOf('moon_phases');
    expect(runs.map((run) => run.logical_date?.slice(0, 10))).toEqual(
      Array.from({ length: CATCH_UP_RUNS }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`),
    );
    const full = runs.find((run) => run.logical_date?.startsWith('2026-01-03'));
    const line = await valueOf(`/dags/moon_phases/dagRuns/${encodeURIComponent(full?.dag_run_id ?? '')}`, 'draw');
    expect(line).toContain('🌕');
  });

  it('moving_in runs with its macros, its policy and a task for each table', async () => {
    const run = await firstRun('moving_in_elt');
    expect((await instancesOf(run)).filter(({ task_id: id }) => id === 'load')).toHaveLength(2);
    expect(await valueOf(run, 'report')).toBe('revenue: 112.50 EUR');
  });

  it('ml_sweep finds out that a straight line is not enough', async () => {
    const run = await firstRun('ml_sweep');
    expect((await instancesOf(run)).filter(({ task_id: id }) => id === 'train')).toHaveLength(9);
    const best = (await valueOf(run, 'choose')) as { degree: number; score: number };
    expect(best.degree).toBeGreaterThan(1);
    expect(best.score).toBeGreaterThan(0.95);
  });
});
