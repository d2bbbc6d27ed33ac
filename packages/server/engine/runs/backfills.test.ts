import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunState } from '@svc/spec/states.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import type { ReprocessBehavior } from '../../db/schema.ts';
import { insertRun } from '@svc/testing/engine/run-rows.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { createApplyToRun } from '../advance/apply-to-runs.ts';
import type { BackfillRequest } from './backfill-plan.ts';
import { createBackfill } from '../edit/create-backfill.ts';
import { cancelBackfill, createBackfillRunner, pauseBackfill, planBackfill } from './backfills.ts';
import { createRunCreator } from './create-run.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { startQueuedRuns } from './start-run.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenantId = '';
let tenant: TenantDb;
const graphs = createDagGraphs();
const tools = { graphs, applyToRun: createApplyToRun(graphs) };
const errors: object[] = [];

beforeAll(async () => {
  ({ db, tenantId, tenant, close } = await openTestDatabase());
});
let dagId = '';
let number = 0;
beforeEach(async () => {
  number += 1;
  dagId = `dag-${number}`; // a new one each time: graphs are remembered by DAG and version
  await sql`delete from dags`.execute(db.shared);
  await registerScheduledDag(tenant, { dagId, schedule: daily });
});
afterAll(async () => {
  if (errors.length > 0) throw new Error(`the runner reported errors: ${JSON.stringify(errors)}`);
  await close?.();
});

const daily: TimetableSpec = { type: 'cron_trigger', expression: '0 0 * * *', timezone: 'UTC' };
const request = (changes: Partial<BackfillRequest> = {}): BackfillRequest => ({
  dagId,
  fromDate: '2026-01-01T00:00:00Z',
  toDate: '2026-01-05T00:00:00Z',
  runBackwards: false,
  conf: null,
  reprocess: 'none',
  maxActiveRuns: 2,
  onLatestVersion: true,
  ...changes,
});
const create = (changes: Partial<BackfillRequest> = {}) =>
  db.shared
    .transaction()
    .execute((trx) => createBackfill(trx, tools, { tenantId, request: request(changes), user: 'ann' }));
const createdId = async (changes: Partial<BackfillRequest> = {}): Promise<number> => {
  const result = await create(changes);
  if (result.kind !== 'created') throw new Error(JSON.stringify(result));
  return result.backfillId;
};
const runner = () =>
  createBackfillRunner({
    db,
    tools,
    onEffects: () => {},
    log: { error: (details) => void errors.push(details) },
  });
const advance = () => runner().advance({ tenantId, dagId });
const runs = () =>
  tenant.selectFrom('dag_runs').selectAll().where('dag_id', '=', dagId).orderBy('logical_date').execute();
const days = async (state: RunState) =>
  (await runs()).filter((run) => run.state === state).map((run) => Number(run.logical_date?.slice(8, 10)));
const endRunning = (state: 'success' | 'failed' = 'success') =>
  tenant.updateTable('dag_runs').set({ state }).where('dag_id', '=', dagId).where('state', '=', 'running').execute();
const backfill = (id: number) =>
  tenant.selectFrom('backfills').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const keyOf = (backfillId: number) => ({ tenantId, dagId, backfillId });
const insertFor = (day: number, state: RunState, more: Partial<Parameters<typeof insertRun>[1]> = {}) =>
  insertRun(tenant, {
    dagId,
    runId: `old-${day}`,
    state,
    logical_date: `2026-01-0${day}T00:00:00Z`,
    instances:
      state === 'queued'
        ? []
        : [
            {
              task_id: 'task',
              state: state === 'failed' ? 'failed' : 'success',
              start_date: '2026-01-09T00:00:00Z',
              end_date: '2026-01-09T00:00:01Z',
            },
          ],
    ...more,
  });

describe('the runs of a backfill', () => {
  it('are all there at once, queued, with the ids, dates and conf of the backfill', async () => {
    const id = await createdId({ conf: { p: 1 } });
    const made = await runs();
    expect(made.map((run) => run.run_id)).toEqual(
      [1, 2, 3, 4, 5].map((day) => `backfill__2026-01-0${day}T00:00:00+00:00`),
    );
    expect(made[0]).toMatchObject({
      run_type: 'backfill',
      state: 'queued',
      triggered_by: 'backfill',
      triggering_user_name: 'ann',
      backfill_id: id,
      conf: { p: 1 },
      run_after: '2026-01-01T00:00:00.000000Z',
      data_interval_end: '2026-01-01T00:00:00.000000Z',
    });
    expect(await backfill(id)).toMatchObject({ completed_at: null, is_paused: false, dag_run_conf: { p: 1 } });
  });

  it('run at most max_active_runs at a time, oldest first, and the backfill is completed with the last', async () => {
    const id = await createdId();
    expect(await advance()).toEqual({ started: 2, completed: 0 });
    expect(await advance()).toEqual({ started: 0, completed: 0 });
    expect([await days('running'), await days('queued')]).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    const finished: number[][] = [];
    for (let round = 0; round < 3; round += 1) {
      finished.push(await days('running'));
      await endRunning(round === 1 ? 'failed' : 'success');
      await advance();
    }
    expect(finished).toEqual([[1, 2], [3, 4], [5]]);
    expect((await backfill(id)).completed_at).not.toBeNull();
    expect(await days('failed')).toEqual([3, 4]);
  });

  it('run newest first when asked to', async () => {
    await createdId({ runBackwards: true });
    await advance();
    expect(await days('running')).toEqual([4, 5]);
  });

  it('stand beside the DAG’s own limit: neither counts against the other', async () => {
    await registerScheduledDag(tenant, { dagId, schedule: daily, dag: { max_active_runs: 1 } });
    await createdId({ maxActiveRuns: 3 });
    await advance();
    expect(await days('running')).toEqual([1, 2, 3]);
    const trigger = createRunCreator(graphs);
    const manual = await db.shared
      .transaction()
      .execute((trx) => trigger(trx, tenantId, { dagId, runType: 'manual', triggeredBy: 'test' }));
    expect(manual).toMatchObject({ kind: 'created' });
    expect((await runs()).filter((run) => run.run_type === 'manual').map((run) => run.state)).toEqual(['running']);
    await db.shared.transaction().execute((trx) => startQueuedRuns(trx, graphs, { tenantId, dagId }));
    expect(await days('running')).toHaveLength(4);
  });

  it('do not start while the DAG is paused', async () => {
    await createdId();
    await tenant.updateTable('dags').set({ is_paused: true }).where('dag_id', '=', dagId).execute();
    expect(await advance()).toEqual({ started: 0, completed: 0 });
    await tenant.updateTable('dags').set({ is_paused: false }).where('dag_id', '=', dagId).execute();
    expect(await advance()).toEqual({ started: 2, completed: 0 });
  });

  it('are started once each, by however many processes', async () => {
    await createdId({ maxActiveRuns: 3, toDate: '2026-01-09T00:00:00Z' });
    for (let round = 0; round < 4; round += 1) {
      const started = await Promise.all([runner(), runner(), runner()].map((process) => process.advance()));
      expect(started.reduce((sum, step) => sum + step.started, 0)).toBe(round < 3 ? 3 : 0);
      expect(await days('running')).toHaveLength(round < 3 ? 3 : 0);
      await endRunning();
    }
  });

  it('have as many starts in one go as there is room for, also beyond the size of one transaction', async () => {
    await createdId({ maxActiveRuns: 50, fromDate: '2025-10-01T00:00:00Z' });
    expect(await advance()).toEqual({ started: 50, completed: 0 });
  });

  it('cover data intervals that have ended, and no date of the future', async () => {
    const schedule: TimetableSpec = { type: 'cron_data_interval', expression: '0 0 * * *', timezone: 'UTC' };
    await registerScheduledDag(tenant, { dagId, schedule });
    const today = new Date().toISOString().slice(0, 10);
    const fromDate = new Date(Date.parse(today) - 3 * 86_400_000).toISOString();
    await createdId({ fromDate, toDate: new Date(Date.now() + 10 * 86_400_000).toISOString() });
    const made = await runs();
    expect(made).toHaveLength(3);
    expect(made.at(-1)?.data_interval_end).toBe(`${today}T00:00:00.000000Z`);
    expect(made.at(-1)?.run_id).toBe(`backfill__${today}T00:00:00+00:00`);
  });
});

describe('dates that have a run already', () => {
  const EXPECTED: Record<ReprocessBehavior, Record<RunState, boolean>> = {
    none: { success: false, failed: false, running: false, queued: false },
    failed: { success: false, failed: true, running: false, queued: false },
    completed: { success: true, failed: true, running: false, queued: false },
  };

  it.each(
    Object.entries(EXPECTED).flatMap(([behavior, states]) =>
      Object.entries(states).map(([state, isAgain]) => ({ behavior, state, isAgain })),
    ),
  )('reprocess $behavior, a run that is $state: again = $isAgain', async ({ behavior, state, isAgain }) => {
    const old = await insertFor(3, state as RunState);
    const reprocess = behavior as ReprocessBehavior;
    const plan = await planBackfill(db.shared, tools, { tenantId, request: request({ reprocess }) });
    if (plan.kind !== 'planned') throw new Error(JSON.stringify(plan));
    expect(plan.steps).toHaveLength(isAgain ? 5 : 4);
    const id = await createdId({ reprocess, conf: { again: true } });
    const made = await runs();
    expect(made).toHaveLength(5);
    const run = made.find((each) => each.id === old);
    const asBefore = { state, run_type: 'manual', backfill_id: null, conf: {} };
    const again = { state: 'queued', run_type: 'backfill', backfill_id: id, conf: { again: true }, end_date: null };
    expect(run).toMatchObject({ run_id: 'old-3', ...(isAgain ? again : asBefore) });
    const instances = tenant.selectFrom('task_instances').selectAll().where('run', '=', old).execute();
    const cleared = (await instances).filter((row) => row.state === null && row.try_number === 1);
    expect(cleared).toHaveLength(isAgain ? 1 : 0);
    const history = await tenant.selectFrom('task_instance_history').selectAll().where('run', '=', old).execute();
    expect(history).toMatchObject(isAgain ? [{ try_number: 1, state }] : []);
  });

  it('run again when the order of dates comes to them, with the tries they have had', async () => {
    await insertFor(1, 'failed');
    await createdId({ reprocess: 'failed', maxActiveRuns: 1 });
    await advance();
    expect(await days('running')).toEqual([1]);
    const [instance] = await tenant.selectFrom('task_instances').selectAll().where('dag_id', '=', dagId).execute();
    expect(instance).toMatchObject({ state: 'scheduled' });
  });

  it('that never started (a backfill was cancelled before) can run again', async () => {
    const first = await createdId({ toDate: '2026-01-02T00:00:00Z' });
    await db.shared.transaction().execute((trx) => cancelBackfill(trx, keyOf(first)));
    expect(await days('failed')).toEqual([1, 2]);
    await createdId({ toDate: '2026-01-02T00:00:00Z', reprocess: 'failed' });
    expect(await days('queued')).toEqual([1, 2]);
    await advance();
    expect(await days('running')).toEqual([1, 2]);
  });

  it('bind to the newest version, or keep their own', async () => {
    await insertFor(1, 'failed');
    await registerScheduledDag(tenant, { dagId, schedule: daily, tasks: { task: {}, more: {} } });
    const keeping = await createdId({ toDate: '2026-01-01T00:00:00Z', reprocess: 'failed', onLatestVersion: false });
    expect((await runs())[0]).toMatchObject({ version_number: 1 });
    await db.shared.transaction().execute((trx) => cancelBackfill(trx, keyOf(keeping)));
    await createdId({ toDate: '2026-01-01T00:00:00Z', reprocess: 'failed' });
    expect((await runs())[0]).toMatchObject({ version_number: 2 });
    await advance();
    const instances = await tenant.selectFrom('task_instances').select('task_id').where('dag_id', '=', dagId).execute();
    expect(instances.map((row) => row.task_id).toSorted()).toEqual(['more', 'task']);
  });

  it('and are all there are: the backfill has nothing to do and is completed at once', async () => {
    for (const day of [1, 2]) await insertFor(day, 'success');
    const id = await createdId({ toDate: '2026-01-02T00:00:00Z' });
    expect((await backfill(id)).completed_at).not.toBeNull();
  });
});

describe('a backfill', () => {
  const refusal = async (changes: Partial<BackfillRequest>) => {
    const result = await create(changes);
    return result.kind === 'refused' ? result.problem : result.kind;
  };

  it.each([
    ['from after to', { fromDate: '2026-01-06T00:00:00Z' }, 'must not be later'],
    ['the future', { fromDate: '2226-01-06T00:00:00Z', toDate: '2226-01-07T00:00:00Z' }, 'future dates'],
    ['no date in range', { fromDate: '2026-01-01T01:00:00Z', toDate: '2026-01-01T02:00:00Z' }, 'has no run between'],
    ['too many runs', { fromDate: '1970-01-01T00:00:00Z' }, 'more than 10000 runs'],
    ['another DAG', { dagId: 'nobody' }, 'no_such_dag'],
  ])('over %s is refused and leaves nothing behind', async (_what, changes, problem) => {
    expect(await refusal(changes)).toContain(problem);
    expect(await runs()).toEqual([]);
    expect(await tenant.selectFrom('backfills').select('id').where('dag_id', '=', dagId).execute()).toEqual([]);
  });

  it.each([
    ['without a schedule', { type: 'null' } as const],
    ['of assets only', { type: 'asset', assets: { type: 'asset', name: 'a', uri: 'a' } } as const],
  ])('of a DAG %s is refused', async (_what, schedule) => {
    await registerScheduledDag(tenant, { dagId, schedule });
    expect(await refusal({})).toContain('has no schedule of dates');
  });

  it('is refused where its author allows none, or its params have no value', async () => {
    await registerScheduledDag(tenant, { dagId, schedule: daily, dag: { allowed_run_types: ['scheduled'] } });
    expect(await refusal({})).toContain('does not take backfill runs');
    const param = {
      name: 'p',
      schema: { type: 'integer' },
      description: null,
      source: 'dag' as const,
      has_default: false,
    };
    await registerScheduledDag(tenant, { dagId, schedule: daily, params: [param] });
    expect(await refusal({})).toContain('conf.p');
    expect(await refusal({ conf: { p: 'x' } })).toContain('conf.p');
    expect((await create({ conf: { p: 1 } })).kind).toBe('created');
  });

  it('of tasks that depend on their past goes forward, and over what failed', async () => {
    await registerScheduledDag(tenant, { dagId, schedule: daily, tasks: { task: { dependsOnPast: true } } });
    expect(await refusal({})).toContain('depends_on_past');
    expect(await refusal({ reprocess: 'failed', runBackwards: true })).toContain('in reverse');
    expect((await create({ reprocess: 'failed' })).kind).toBe('created');
  });

  it('is the only one of its DAG until it is completed, also when two are asked for at the same moment', async () => {
    const results = await Promise.all([create(), create(), create()]);
    expect(results.map((result) => result.kind).toSorted()).toEqual(['already_running', 'already_running', 'created']);
    expect(await runs()).toHaveLength(5);
  });

  it('that is paused starts nothing more, and goes on when it may', async () => {
    const id = await createdId();
    await advance();
    expect(await db.shared.transaction().execute((trx) => pauseBackfill(trx, keyOf(id), true))).toBe('changed');
    await endRunning();
    expect(await advance()).toEqual({ started: 0, completed: 0 });
    await db.shared.transaction().execute((trx) => pauseBackfill(trx, keyOf(id), false));
    expect(await advance()).toEqual({ started: 2, completed: 0 });
  });

  it('that is cancelled fails what has not started, lets the rest end, and cannot be changed any more', async () => {
    const id = await createdId();
    await advance();
    const cancel = () => db.shared.transaction().execute((trx) => cancelBackfill(trx, keyOf(id)));
    expect(await cancel()).toBe('changed');
    expect([await days('running'), await days('failed')]).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    expect(await backfill(id)).toMatchObject({ is_paused: true });
    expect((await backfill(id)).completed_at).not.toBeNull();
    expect(await cancel()).toBe('completed');
    expect(await db.shared.transaction().execute((trx) => pauseBackfill(trx, keyOf(id), false))).toBe('completed');
    expect(await db.shared.transaction().execute((trx) => cancelBackfill(trx, keyOf(999_999)))).toBe(
      'no_such_backfill',
    );
  });

  it('that is completed still starts a run of it that somebody queues again, and stays completed', async () => {
    const id = await createdId({ toDate: '2026-01-01T00:00:00Z' });
    await advance();
    await endRunning('failed');
    await advance();
    const { completed_at: completedAt } = await backfill(id);
    await tenant.updateTable('dag_runs').set({ state: 'queued' }).where('dag_id', '=', dagId).execute();
    expect(await advance()).toEqual({ started: 1, completed: 0 });
    expect((await backfill(id)).completed_at).toBe(completedAt);
  });

  it('is deleted with its DAG', async () => {
    await createdId();
    await sql`delete from dags where dag_id = ${dagId}`.execute(db.shared);
    expect(await tenant.selectFrom('backfills').select('id').where('dag_id', '=', dagId).execute()).toEqual([]);
  });
});
