/**
 * What docs/architecture.md promises, at every step of a control plane: whatever was committed goes on, nothing runs twice, no
 * slot of a pool, of a worker or of a DAG's active runs is lost, and a caller that repeats its question gets one run. Each case
 * stops the process at one step, or loses the connection with one answer; the steps are those of an undisturbed run.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SLOTS, createCrashPlant } from '@svc/testing/engine/crash-plant.ts';
import type { CrashPlant, Life, PlantOptions } from '@svc/testing/engine/crash-plant.ts';
import { graphOf } from '@svc/testing/engine/scripted-scheduler.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { nameOf } from '@svc/testing/postgres/breakable-line.ts';
import type { Break, Step } from '@svc/testing/postgres/breakable-line.ts';
import { SEED } from '@svc/testing/seed.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { registerVersion } from '../registry/register-version.ts';
import type { Registration } from '../registry/register-version.ts';
import type { TenantDb } from '../db/database.ts';
import { FREE, USED } from './sql/claims.ts';
import { countRunning } from './sql/queued-runs.ts';

let plant: CrashPlant;

/** Some hundred cases: a machine that does ten things at once takes a minute for a walk that takes seconds on a quiet one. */
const PATIENCE_MS = 900_000;

const GRAPHS = {
  diamond: graphOf({ a: [], b: ['a'], c: ['a'], d: ['b', 'c'], e: ['d'] }),
  // Two of them do not fit into the pool together, and one has a limit of its own, so that no trigger claims it.
  wide: graphOf({ a: [], b: [], c: [] }, (id) => ({
    policy: id === 'b' ? { max_active_tis_per_dag: 1 } : { pool_slots: 2 },
  })),
  pair: graphOf({ a: [], b: ['a'] }),
  alone: graphOf({ a: [] }),
  canary: graphOf({ x: [], y: [], z: [] }),
  deployed: graphOf({ a: [] }),
};
type DagId = keyof typeof GRAPHS;

const specOf = (dagId: DagId, text = '1'): CompiledSpec =>
  makeSpec({
    dagId,
    tasks: GRAPHS[dagId],
    // A run that kept the slot of its DAG would hold up the run of the next case.
    dag: { is_paused_upon_creation: false, max_active_runs: 1, doc_md: text },
  });

const ACTOR = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };
const deploy = (db: TenantDb, spec: CompiledSpec): Promise<Registration> =>
  registerVersion(db, { dagId: spec.dag.dag_id, artifact: { spec }, actor: ACTOR });

beforeAll(async () => {
  plant = await createCrashPlant();
  for (const dagId of Object.keys(GRAPHS) as DagId[]) await deploy(plant.scope, specOf(dagId));
});
afterAll(() => plant?.close());

/** What one scenario does; `runs` are the names of those that must end well. */
type Scenario = {
  options?: PlantOptions;
  dagId: DagId;
  runIds: readonly string[];
  /** Before the steps are walked: triggers, with a worker that begins nothing yet. */
  prepare?(life: Life, name: (runId: string) => string): Promise<void>;
  act(life: Life, name: (runId: string) => string): Promise<unknown>;
  /** What the caller repeats until it is answered, when everything has come to rest. */
  repeat?(name: (runId: string) => string): Promise<void>;
};

const trigger = (life: Life, dagId: DagId, runId: string) =>
  life.scheduler.trigger(plant.tenant.id, { dagId, runId, runType: 'manual', triggeredBy: 'test' });

const triggerAgain = async (dagId: DagId, runId: string): Promise<void> => {
  const result = await plant.ask((scheduler) =>
    scheduler.trigger(plant.tenant.id, { dagId, runId, runType: 'manual', triggeredBy: 'test' }),
  );
  expect(['created', 'duplicate']).toContain(result.kind);
};

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'finish: ends that hand over the next task, are foreseen, join and end the run': {
    dagId: 'diamond',
    runIds: ['one'],
    prepare: async (life, name) => void (await trigger(life, 'diamond', name('one'))),
    act: async () => plant.releaseWorker(),
  },
  'finish: the end of a run for which another one waits': {
    dagId: 'alone',
    runIds: ['one', 'two'],
    async prepare(life, name) {
      await trigger(life, 'alone', name('one'));
      await trigger(life, 'alone', name('two'));
    },
    act: async () => plant.releaseWorker(),
  },
  'claim: tasks wait for room, in a full pool, one with a limit of its own': {
    options: { goesOn: false },
    dagId: 'wide',
    runIds: ['one'],
    async prepare(life, name) {
      plant.setRoom(0);
      await trigger(life, 'wide', name('one'));
    },
    async act() {
      plant.releaseWorker();
      plant.setRoom(SLOTS);
    },
  },
  'trigger: its first task is claimed with it': {
    dagId: 'pair',
    runIds: ['one'],
    act: async (life, name) => {
      plant.releaseWorker();
      await trigger(life, 'pair', name('one'));
    },
    repeat: (name) => triggerAgain('pair', name('one')),
  },
  'trigger: its first task is started with it, on a worker that was told before': {
    options: { startsAhead: true },
    dagId: 'pair',
    runIds: ['one'],
    act: async (life, name) => {
      plant.releaseWorker();
      await trigger(life, 'pair', name('one'));
    },
    repeat: (name) => triggerAgain('pair', name('one')),
  },
};

let cases = 0;

/** Plays the scenario on a process that may be broken; answers with the steps that were armed. */
async function play(scenario: Scenario, fault?: Break): Promise<{ steps: readonly Step[]; isBroken: boolean }> {
  const prefix = `case ${(cases += 1)}`;
  const name = (runId: string): string => `${prefix} ${runId}`;
  plant.reset(scenario.options ?? {});
  plant.holdWorker();
  plant.setRoom(SLOTS);
  const life = plant.beginMortal();
  const lives = [life];
  await scenario.prepare?.(life, name);
  await plant.settle(life);
  life.line?.arm(fault);
  const acted = scenario.act(life, name).then(
    () => 'answered',
    () => 'failed',
  );
  const answer = await Promise.race([acted, life.line?.stopped]);
  await plant.settle(life);
  life.line?.disarm();
  const isBroken = life.line?.isBroken() ?? false;
  const hasStopped = life.line?.isStopped() ?? false;
  const heir = hasStopped ? plant.beginHealthy() : life;
  if (heir !== life) lives.push(heir);
  plant.releaseWorker();
  plant.setRoom(SLOTS);
  await heir.scheduler.tick();
  await plant.settle(heir);
  await afterLease(scenario, name, lives);
  const kept = await runsOf(scenario, name);
  const mustExist = scenario.prepare !== undefined || answer === 'answered' ? scenario.runIds.map(name) : [];
  expect(kept.map(({ run_id: id }) => id)).toEqual(expect.arrayContaining(mustExist));
  for (const run of kept) expect(run.state, `${run.run_id} without being asked for again`).toBe('success');
  if (answer !== 'answered' && scenario.repeat) {
    await scenario.repeat(name);
    await plant.settle(lives.at(-1) ?? heir);
  }
  await check(scenario, name);
  // A process that lives on may have kept slots in its memory. The one after a stopped process began without any.
  if (!hasStopped || IS_NIGHTLY) await allSlotsCanBeFilled(hasStopped ? (lives.at(-1) ?? heir) : life);
  for (const each of lives) await plant.end(each);
  return { steps: life.line?.steps ?? [], isBroken };
}

const runsOf = ({ dagId, runIds }: Scenario, name: (runId: string) => string) =>
  plant.scope
    .selectFrom('dag_runs')
    .select(['id', 'run_id', 'state'])
    .where('dag_id', '=', dagId)
    .where('run_id', 'in', runIds.map(name))
    .orderBy('id')
    .execute();

/** What a process took along into its death was never begun: only such attempts wait for their lease. */
async function afterLease(scenario: Scenario, name: (runId: string) => string, lives: Life[]): Promise<void> {
  const runs = await runsOf(scenario, name);
  if (runs.every(({ state }) => state === 'success')) return;
  const active = await plant.scope
    .selectFrom('task_instances')
    .select(['task_id', 'state'])
    .where(
      'run',
      'in',
      runs.map(({ id }) => id),
    )
    .where('state', 'in', ['running', 'queued', 'scheduled'])
    .execute();
  expect(
    active.filter(({ state }) => state === 'running'),
    'running, and no worker knows of it',
  ).toEqual([]);
  const late = plant.beginHealthy(0);
  lives.push(late);
  await late.scheduler.tick();
  await plant.settle(late);
}

async function check(scenario: Scenario, name: (runId: string) => string): Promise<void> {
  expect(plant.problems).toEqual([]);
  const runs = await runsOf(scenario, name);
  expect(runs.map(({ run_id: id, state }) => [id, state])).toEqual(scenario.runIds.map((id) => [name(id), 'success']));
  const tasks = GRAPHS[scenario.dagId].map(({ task_id: id }) => id);
  const wanted = runs.flatMap(({ id }) => tasks.map((task) => `${id}/${task}#1`));
  expect(plant.bodies().toSorted()).toEqual(wanted.toSorted());
  const { rows } = await sql`
    select task_id, state from task_instances
    where state is distinct from 'success' or try_number <> 1 or claimable`.execute(plant.db.shared);
  expect(rows).toEqual([]);
  expect(plant.held(), 'slots of the worker that are taken').toBe(0);
  expect(await freeSlots(scenario.dagId), 'slots as claims and starts of runs count them').toEqual(ALL_FREE);
}

const ALL_FREE = { ofPool: SLOTS, runs: 0 };

async function freeSlots(dagId: DagId): Promise<typeof ALL_FREE> {
  const { rows } = await sql<{ free: number }>`
    select (${sql.raw(FREE)})::int as free from pools p ${sql.raw(USED)} where p.name = 'default_pool'`.execute(
    plant.db.shared,
  );
  const runs = await countRunning(plant.db.shared, { tenantId: plant.tenant.id, dagId });
  return { ofPool: rows[0]?.free ?? 0, runs };
}

/** A run with as many first tasks as the pool and the worker have slots has them all given out at once. */
async function allSlotsCanBeFilled(life: Life): Promise<void> {
  plant.holdWorker();
  const result = await trigger(life, 'canary', `canary ${cases}`);
  expect(result.kind === 'created' ? result.run.state : result.kind).toBe('running');
  await plant.settle(life);
  expect(plant.held(), 'slots of the worker that can be filled').toBe(SLOTS);
  plant.releaseWorker();
  await plant.settle(life);
}

/**
 * Statements that leave together, and answers that arrive together, are one step for the process: nothing is decided between
 * them. Of each such row its first and its last are walked, and every commit.
 */
const awaitedOf = (steps: readonly Step[]): Step[] =>
  steps.filter(
    ({ phase, text }, index) =>
      text === 'commit' || steps[index - 1]?.phase !== phase || steps[index + 1]?.phase !== phase,
  );

/** At night every step is walked. By day every commit is, and of the other steps a third, which the seed chooses. */
const DAY_SHARE = 3;
const isWalked = ({ text }: Step, index: number): boolean =>
  IS_NIGHTLY || text === 'commit' || index % DAY_SHARE === SEED % DAY_SHARE;

/** Two requests for a claim may become one, and a step less: then the case is played once more. */
async function comesAgain(playOnce: () => Promise<{ isBroken: boolean }>): Promise<boolean> {
  for (let time = 0; time < 3; time += 1) if ((await playOnce()).isBroken) return true;
  return false;
}

async function walk(
  kind: Break['kind'],
  playOnce: (fault?: Break) => Promise<{ steps: readonly Step[]; isBroken: boolean }>,
): Promise<number> {
  const { steps } = await playOnce();
  const awaited = awaitedOf(steps);
  const places = (kind === 'stop' ? awaited : awaited.filter(({ phase }) => phase === 'answered')).filter(isWalked);
  const missed: string[] = [];
  for (const at of places) {
    try {
      if (!(await comesAgain(() => playOnce({ kind, at })))) missed.push(nameOf(at));
    } catch (error) {
      throw new Error(`${kind} at step ${nameOf(at)}`, { cause: error });
    }
  }
  expect(missed, 'steps that did not come again').toEqual([]);
  return places.length;
}

/** The next version of a DAG, each time with another text. */
async function playDeploy(fault?: Break): Promise<{ steps: readonly Step[]; isBroken: boolean }> {
  plant.reset({});
  plant.releaseWorker();
  plant.setRoom(SLOTS);
  const spec = specOf('deployed', `case ${(cases += 1)}`);
  const before = await versionsOf();
  const life = plant.beginMortal();
  life.line?.arm(fault);
  const deployed = deploy(life.db.tenant(plant.tenant.id), spec).then(
    ({ kind }) => kind,
    () => 'failed',
  );
  const answer = await Promise.race([deployed, life.line?.stopped]);
  life.line?.disarm();
  const heir = plant.beginHealthy();
  // Whatever has become of it, a run has one version, and all of it.
  await runOnce(heir, `${cases} before`);
  const between = await versionsOf();
  const mustBe = answer === 'created' ? [before.length + 1] : [];
  expect(between).toEqual(expect.arrayContaining(mustBe));
  const again = await deploy(plant.scope, spec);
  expect(again.kind).toBe(between.length === before.length ? 'created' : 'unchanged');
  await runOnce(heir, `${cases} after`);
  const after = await versionsOf();
  expect(after).toEqual(Array.from({ length: before.length + 1 }, (_, index) => index + 1));
  const { rows } = await sql`
    select d.current_version as current,
      (select count(*) from audit_log where event = 'post_dag_version' and dag_id = d.dag_id) as entries
    from dags d where d.dag_id = 'deployed'`.execute(plant.db.shared);
  expect(rows).toEqual([{ current: after.length, entries: after.length }]);
  expect(plant.problems).toEqual([]);
  for (const each of [life, heir]) await plant.end(each);
  return { steps: life.line?.steps ?? [], isBroken: life.line?.isBroken() ?? false };
}

const versionsOf = async (): Promise<number[]> => {
  const versions = await plant.scope
    .selectFrom('dag_versions')
    .select('version_number')
    .where('dag_id', '=', 'deployed')
    .orderBy('version_number')
    .execute();
  return versions.map(({ version_number: version }) => version);
};

async function runOnce(life: Life, runId: string): Promise<void> {
  const result = await trigger(life, 'deployed', runId);
  expect(result.kind).toBe('created');
  await plant.settle(life);
  const run = await plant.scope
    .selectFrom('dag_runs')
    .select(['state', 'version_number'])
    .where('run_id', '=', runId)
    .executeTakeFirstOrThrow();
  expect(run).toEqual({ state: 'success', version_number: (await versionsOf()).at(-1) });
}

describe.each(Object.entries(SCENARIOS))('%s', { timeout: PATIENCE_MS }, (_name, scenario) => {
  it('loses nothing and runs nothing twice when the process stops at any step', async () => {
    expect(await walk('stop', (fault) => play(scenario, fault))).toBeGreaterThan(0);
  });

  it('loses nothing and runs nothing twice when any answer of Postgres gets lost with its connection', async () => {
    expect(await walk('drop', (fault) => play(scenario, fault))).toBeGreaterThan(0);
  });
});

describe('deploy: another version of a DAG', { timeout: PATIENCE_MS }, () => {
  it('is there wholly or not at all, and once, when the process stops at any step', async () => {
    expect(await walk('stop', playDeploy)).toBeGreaterThan(0);
  });

  it('is there wholly or not at all, and once, when any answer of Postgres gets lost with its connection', async () => {
    expect(await walk('drop', playDeploy)).toBeGreaterThan(0);
  });
});
