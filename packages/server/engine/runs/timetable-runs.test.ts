import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { instantFromIso, instantToIso } from '@svc/spec/timetables/instant.ts';
import { iterRuns } from '@svc/spec/timetables/next-run.ts';
import { runIdFor } from '@svc/spec/timetables/run-id.ts';
import type { TimetableSpec } from '@svc/spec/timetables/schema.ts';
import type { Database, TenantDb } from '../../db/database.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import type { ScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { openTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import type { OpenTestDatabase } from '@svc/testing/postgres/open-test-database.ts';
import { createRunCreator } from './create-run.ts';
import { createDagGraphs } from '../shared/dag-graphs.ts';
import { createTimetableRuns } from './timetable-runs.ts';

let close: OpenTestDatabase['close'] | undefined;
let db: Database;
let tenant: TenantDb;
const errors: { details: object; message: string }[] = [];

beforeAll(async () => {
  ({ db, tenant, close } = await openTestDatabase());
});
beforeEach(async () => {
  await sql`delete from dags`.execute(db.shared);
  errors.length = 0;
});
afterAll(() => close?.());

/** One process of several: a memory of its own, the same database. */
const scheduler = () =>
  createTimetableRuns({
    db,
    createRun: createRunCreator(createDagGraphs()),
    onEffects: () => {},
    log: { error: (details, message) => void errors.push({ details, message }) },
  });

const createDue = (now: string, limit = 1_000) => scheduler().createDue({ now, limit });

/** Until nothing is due any more at that moment. */
async function createAllDue(now: string): Promise<number> {
  let created = 0;
  for (;;) {
    const step = await createDue(now);
    created += step.created;
    if (step.created === 0) return created;
  }
}

const daily: TimetableSpec = { type: 'cron_trigger', expression: '0 0 * * *', timezone: 'UTC' };

const registerAt = (moment: string, dag: ScheduledDag) => registerScheduledDag(tenant, dag, moment);

const runsOf = (dagId: string) =>
  tenant
    .selectFrom('dag_runs')
    .select(['run_id', 'state', 'logical_date', 'data_interval_start', 'data_interval_end', 'run_after', 'run_type'])
    .where('dag_id', '=', dagId)
    .orderBy('logical_date')
    .execute();
const runIdsOf = async (dagId: string) => (await runsOf(dagId)).map((run) => run.run_id);
const finishAll = (dagId: string) =>
  tenant.updateTable('dag_runs').set({ state: 'success' }).where('dag_id', '=', dagId).execute();
const dagRow = (dagId: string) =>
  tenant.selectFrom('dags').selectAll().where('dag_id', '=', dagId).executeTakeFirstOrThrow();

const start = { start_date: '2026-01-01T00:00:00+00:00' };

describe('catchup', () => {
  it('on makes every missed run, oldest first, as far as max_active_runs allows', async () => {
    const dag = { ...start, catchup: true, max_active_runs: 3 };
    await registerAt('2026-01-10T12:00:00Z', { dagId: 'on', schedule: daily, dag });
    expect(await createAllDue('2026-01-10T12:00:00Z')).toBe(3);
    expect(await runIdsOf('on')).toEqual([
      'scheduled__2026-01-01T00:00:00+00:00',
      'scheduled__2026-01-02T00:00:00+00:00',
      'scheduled__2026-01-03T00:00:00+00:00',
    ]);
    expect((await runsOf('on')).map((run) => run.state)).toEqual(['running', 'running', 'running']);
    for (let round = 0; round < 4; round += 1) {
      await finishAll('on');
      await createAllDue('2026-01-10T12:00:00Z');
    }
    expect(await runIdsOf('on')).toHaveLength(10);
    expect((await dagRow('on')).next_dagrun_run_after).toBe('2026-01-11T00:00:00.000000Z');
  });

  it('off makes only the newest of the missed runs, also after a long pause', async () => {
    await registerAt('2026-01-10T12:00:00Z', { dagId: 'off', schedule: daily, dag: start });
    expect(await createAllDue('2026-01-10T12:00:00Z')).toBe(1);
    expect(await runIdsOf('off')).toEqual(['scheduled__2026-01-10T00:00:00+00:00']);
    await tenant.updateTable('dags').set({ is_paused: true }).execute();
    expect(await createAllDue('2026-02-01T12:00:00Z')).toBe(0);
    await tenant.updateTable('dags').set({ is_paused: false }).execute();
    expect(await createAllDue('2026-02-20T12:00:00Z')).toBe(1);
    expect(await runIdsOf('off')).toEqual([
      'scheduled__2026-01-10T00:00:00+00:00',
      'scheduled__2026-02-20T00:00:00+00:00',
    ]);
  });

  it('ends with the end date, and the DAG has no next run', async () => {
    const dag = { ...start, end_date: '2026-01-03T00:00:00+00:00', catchup: true };
    await registerAt('2026-02-01T00:00:00Z', { dagId: 'ended', schedule: daily, dag });
    expect(await createAllDue('2026-02-01T00:00:00Z')).toBe(3);
    expect(await dagRow('ended')).toMatchObject({ next_dagrun_logical_date: null, next_dagrun_run_after: null });
    expect((await createDue('2026-03-01T00:00:00Z')).nextDueAt).toBeNull();
  });
});

describe('the moment at which the next run is due', () => {
  it('is told, so that a timer can be set to it, and a run is not made before it', async () => {
    await registerAt('2026-01-10T12:00:00Z', { dagId: 'tomorrow', schedule: daily, dag: start });
    await createAllDue('2026-01-10T12:00:00Z');
    const before = await createDue('2026-01-10T23:59:59.999999Z');
    expect(before).toEqual({ created: 0, nextDueAt: '2026-01-11T00:00:00.000000Z' });
    expect((await createDue('2026-01-11T00:00:00.000000Z')).created).toBe(1);
  });

  it('that lies before the last one (a clock set back) makes nothing and loses nothing', async () => {
    await registerAt('2026-01-10T12:00:00Z', { dagId: 'clock', schedule: daily, dag: start });
    await createAllDue('2026-01-15T12:00:00Z');
    await finishAll('clock');
    expect(await createAllDue('2026-01-12T12:00:00Z')).toBe(0);
    expect(await createAllDue('2026-01-16T12:00:00Z')).toBe(1);
    expect(await runIdsOf('clock')).toEqual([
      'scheduled__2026-01-15T00:00:00+00:00',
      'scheduled__2026-01-16T00:00:00+00:00',
    ]);
  });
});

describe('at max_active_runs', () => {
  it('nothing is made, and the DAG neither asks to be called again nor takes the turn of others', async () => {
    const dag = { ...start, catchup: true, max_active_runs: 1 };
    for (const dagId of ['busy-1', 'busy-2']) await registerAt('2026-01-10T12:00:00Z', { dagId, schedule: daily, dag });
    await createAllDue('2026-01-10T12:00:00Z');
    await registerAt('2026-01-10T12:00:00Z', { dagId: 'free', schedule: daily, dag: start });
    // With room for one DAG in the query, a blocked one in front would starve the free one.
    expect((await createDue('2026-01-10T12:00:00Z', 1)).created).toBe(1);
    expect(await runIdsOf('free')).toHaveLength(1);
    expect(await createDue('2026-01-10T12:00:00Z')).toEqual({ created: 0, nextDueAt: '2026-01-11T00:00:00.000000Z' });
  });

  it('runs of a backfill do not count', async () => {
    const dag = { ...start, catchup: true, max_active_runs: 1 };
    await registerAt('2026-01-03T12:00:00Z', { dagId: 'backfilled', schedule: daily, dag });
    await tenant
      .insertInto('dag_runs')
      .values({
        dag_id: 'backfilled',
        run_id: 'backfill__x',
        run_type: 'backfill',
        state: 'running',
        run_after: '2025-01-01T00:00:00Z',
        triggered_by: 'backfill',
        version_number: 1,
        backfill_id: 1,
      })
      .execute();
    expect(await createAllDue('2026-01-03T12:00:00Z')).toBe(1);
  });

  it('@continuous has one run at a time, and the next one covers all the time since', async () => {
    const dag = { ...start, max_active_runs: 1 };
    await registerAt('2026-01-01T00:00:00Z', { dagId: 'on-and-on', schedule: { type: 'continuous' }, dag });
    expect(await createAllDue('2026-01-01T01:00:00Z')).toBe(1);
    expect(await createAllDue('2026-01-01T02:00:00Z')).toBe(0);
    await finishAll('on-and-on');
    expect(await createAllDue('2026-01-01T03:00:00Z')).toBe(1);
    const intervals = (await runsOf('on-and-on')).map((run) => [run.data_interval_start, run.data_interval_end]);
    expect(intervals).toEqual([
      ['2026-01-01T00:00:00.000000Z', '2026-01-01T01:00:00.000000Z'],
      ['2026-01-01T01:00:00.000000Z', '2026-01-01T03:00:00.000000Z'],
    ]);
  });
});

it('@once runs once, also when its version is registered again', async () => {
  const dag = { dagId: 'once', schedule: { type: 'once' as const }, dag: start };
  await registerAt('2026-01-05T00:00:00Z', dag);
  expect(await createAllDue('2026-01-05T00:00:00Z')).toBe(1);
  expect(await runIdsOf('once')).toEqual(['scheduled__2026-01-01T00:00:00+00:00']);
  await registerAt('2026-01-06T00:00:00Z', dag);
  expect(await createAllDue('2026-02-01T00:00:00Z')).toBe(0);
});

describe('a new version of a scheduled DAG', () => {
  it('goes on after the newest scheduled run, on a schedule of its own', async () => {
    const dag = { ...start, catchup: true };
    await registerAt('2026-01-03T12:00:00Z', { dagId: 'again', schedule: daily, dag });
    expect(await createAllDue('2026-01-03T12:00:00Z')).toBe(3);
    const hourly: TimetableSpec = { type: 'cron_trigger', expression: '0 * * * *', timezone: 'UTC' };
    await registerAt('2026-01-03T12:30:00Z', { dagId: 'again', schedule: hourly, dag });
    expect(await dagRow('again')).toMatchObject({ next_dagrun_run_after: '2026-01-03T01:00:00.000000Z' });
  });

  it('does not take manual runs for its own', async () => {
    await registerAt('2026-01-03T12:00:00Z', { dagId: 'manual', schedule: daily, dag: { ...start, catchup: true } });
    await tenant
      .insertInto('dag_runs')
      .values({
        dag_id: 'manual',
        run_id: 'manual__x',
        run_type: 'manual',
        state: 'success',
        logical_date: '2026-01-02T00:00:00Z',
        run_after: '2026-01-02T00:00:00Z',
        triggered_by: 'ui',
        version_number: 1,
      })
      .execute();
    await registerAt('2026-01-03T12:00:00Z', { dagId: 'manual', schedule: daily, dag: { ...start, catchup: true } });
    // The date of the manual run is taken; the schedule passes over it instead of stopping there.
    expect(await createAllDue('2026-01-03T12:00:00Z')).toBe(2);
    expect(await runIdsOf('manual')).toEqual([
      'scheduled__2026-01-01T00:00:00+00:00',
      'manual__x',
      'scheduled__2026-01-03T00:00:00+00:00',
    ]);
  });
});

describe('a DAG that cannot be scheduled', () => {
  it('stops no other, is reported once, and is tried again later', async () => {
    const param = { name: 'p', schema: {}, description: null, source: 'dag' as const, has_default: false };
    await registerAt('2026-01-02T12:00:00Z', { dagId: 'a-poison', schedule: daily, dag: start, params: [param] });
    await registerAt('2026-01-02T12:00:00Z', { dagId: 'b-broken', schedule: daily, dag: start });
    await sql`update dags set timetable = '{"type":"cron_trigger","expression":"61 * * * *","timezone":"UTC"}'
      where dag_id = 'b-broken'`.execute(db.shared);
    await registerAt('2026-01-02T12:00:00Z', { dagId: 'c-good', schedule: daily, dag: start });
    expect(await createAllDue('2026-01-02T12:00:00Z')).toBe(1);
    expect(await runIdsOf('c-good')).toHaveLength(1);
    await createAllDue('2026-01-02T12:00:30Z');
    expect(errors.map(({ details }) => (details as { dag_id: string }).dag_id).toSorted()).toEqual([
      'a-poison',
      'b-broken',
    ]);
    await registerAt('2026-01-02T12:00:40Z', { dagId: 'a-poison', schedule: daily, dag: start });
    expect(await createAllDue('2026-01-02T12:00:50Z')).toBe(1);
    expect(await runIdsOf('a-poison')).toEqual(['scheduled__2026-01-02T00:00:00+00:00']);
  });

  it('is looked at again after a while even when nobody registers it, and its run has the right id', async () => {
    await registerAt('2026-01-02T12:00:00Z', { dagId: 'mended', schedule: daily, dag: start });
    const good = JSON.stringify((await dagRow('mended')).timetable);
    await sql`update dags set timetable = '{"type":"cron_trigger","expression":"x","timezone":"UTC"}'`.execute(
      db.shared,
    );
    expect(await createAllDue('2026-01-02T12:00:00Z')).toBe(0);
    await tenant.updateTable('dags').set({ timetable: good }).execute();
    expect(await createAllDue('2026-01-02T12:00:59Z')).toBe(0);
    expect(await createAllDue('2026-01-02T12:01:00Z')).toBe(1);
    expect(await runIdsOf('mended')).toEqual(['scheduled__2026-01-02T00:00:00+00:00']);
  });

  it('because its author allows no scheduled runs has no next run', async () => {
    const dag = { ...start, allowed_run_types: ['manual' as const] };
    await registerAt('2026-01-02T12:00:00Z', { dagId: 'manual-only', schedule: daily, dag });
    expect(await dagRow('manual-only')).toMatchObject({ next_dagrun_run_after: null });
  });
});

describe('around a change of the clocks', () => {
  it.each([
    ['30 1 * * *', 'America/New_York', '2026-10-31T00:00:00Z', '2026-11-03T00:00:00Z'],
    ['30 * * * *', 'America/New_York', '2026-11-01T04:00:00Z', '2026-11-01T08:00:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z'],
  ])('%s in %s gives each run the id and the date of its instant', async (expression, timezone, from, to) => {
    const schedule: TimetableSpec = { type: 'cron_trigger', expression, timezone };
    await registerAt(from, { dagId: 'dst', schedule, dag: { start_date: from, catchup: true } });
    const first = instantFromIso(from);
    const last = instantFromIso(to);
    if (first === null || last === null) throw new Error('unreachable: both are dates');
    const expected = [...iterRuns(schedule, { from: first, to: last, now: last })].map((run) =>
      runIdFor({ runType: 'scheduled', runAfter: run.runAfter }),
    );
    await createAllDue(instantToIso(last));
    expect(await runIdsOf('dst')).toEqual(expected);
  });
});

it('several schedulers at once make each due run exactly once, whatever the limits', async () => {
  const dags = fc.array(
    fc.record({
      catchup: fc.boolean(),
      maxActive: fc.integer({ min: 1, max: 12 }),
      days: fc.integer({ min: 1, max: 9 }),
    }),
    { minLength: 1, maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(dags, fc.integer({ min: 1, max: 20 }), async (wanted, limit) => {
      await sql`delete from dags`.execute(db.shared);
      const now = '2026-01-10T12:00:00Z';
      for (const [index, { catchup, maxActive, days }] of wanted.entries()) {
        const startDate = `2026-01-${String(11 - days).padStart(2, '0')}T00:00:00+00:00`;
        const dag = { start_date: startDate, catchup, max_active_runs: maxActive };
        await registerAt(now, { dagId: `dag-${index}`, schedule: daily, dag });
      }
      const processes = [scheduler(), scheduler(), scheduler()];
      const work = async (process: ReturnType<typeof scheduler>) => {
        for (let idle = 0; idle < 3;) idle = (await process.createDue({ now, limit })).created > 0 ? 0 : idle + 1;
      };
      await Promise.all(processes.map(work));
      for (const [index, { catchup, maxActive, days }] of wanted.entries()) {
        const found = await runIdsOf(`dag-${index}`);
        expect(new Set(found).size).toBe(found.length);
        expect(found).toHaveLength(catchup ? Math.min(days, maxActive) : 1);
      }
      expect(errors).toEqual([]);
    }),
    { numRuns: 12 },
  );
});
