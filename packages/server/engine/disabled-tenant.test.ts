/** A tenant that is disabled: what runs ends, nothing starts, and all of it goes on when the tenant is enabled. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ensureTenant } from '../auth/tenants.ts';
import { setTenantDisabled } from '../db/identity/tenants.ts';
import { registerScheduledDag } from '@svc/testing/engine/scheduled-dag.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { createRunCreator } from './runs/create-run.ts';
import { createTimetableRuns } from './runs/timetable-runs.ts';
import { createDagGraphs } from './shared/dag-graphs.ts';
import { findUnconsidered, lockConsumer } from './sql/asset-events.ts';
import { findBackfillsToAdvance, lockBackfill } from './sql/backfills.ts';

let engine: ScriptedScheduler;
let other: { id: string };
beforeAll(async () => {
  engine = await startScriptedScheduler();
  other = await ensureTenant(engine.db.shared, 'other');
  await registerScheduledDag(engine.db.tenant(other.id), { dagId: 'neighbour' });
});
afterAll(() => engine.close());
afterEach(async () => {
  engine.setScript(() => ({ state: 'success' }));
  await enable();
});

const disable = () => setTenantDisabled(engine.db.shared, engine.tenant.id, true);
const enable = () => setTenantDisabled(engine.db.shared, engine.tenant.id, false);

/** A whole run of another tenant: whatever looked for work has looked since. */
async function runOfNeighbour(): Promise<void> {
  await engine.scheduler.tick();
  const input = { dagId: 'neighbour', runType: 'manual' as const, triggeredBy: 'test' };
  const result = await engine.scheduler.trigger(other.id, input);
  if (result.kind !== 'created') throw new Error(result.kind);
  const { id } = result.run;
  const state = async () =>
    (await engine.db.tenant(other.id).selectFrom('dag_runs').select('state').where('id', '=', id).execute())[0]?.state;
  await expect.poll(state).toBe('success');
}

it('lets a running attempt end and starts nothing after it, by hand-over or by claim, until it is enabled', async () => {
  let finish = (): void => {};
  const gate = new Promise<void>((resolve) => (finish = resolve));
  engine.setScript(async ({ taskId }) => {
    if (taskId === 'a') await gate;
    return { state: 'success' };
  });
  const run = await engine.run(graphOf({ a: [], b: ['a'] }));
  await expect.poll(() => engine.states(run)).toMatchObject({ a: 'running' });
  await disable();
  finish();
  await expect.poll(() => engine.states(run)).toEqual({ a: 'success', b: 'scheduled' });
  await runOfNeighbour();
  expect(await engine.states(run)).toEqual({ a: 'success', b: 'scheduled' });
  await enable();
  engine.scheduler.tenantEnabled();
  expect(await engine.ended(run)).toBe('success');
});

it('keeps runs that come about meanwhile in the queue, and starts them when it is enabled', async () => {
  await disable();
  const run = await engine.run(graphOf({ a: [] }));
  await runOfNeighbour();
  expect([await engine.runState(run), await engine.states(run)]).toEqual(['queued', {}]);
  await enable();
  engine.scheduler.tenantEnabled();
  expect(await engine.ended(run)).toBe('success');
});

it('makes no runs of schedules', async () => {
  const schedule = { type: 'cron_trigger' as const, expression: '0 0 * * *', timezone: 'UTC' };
  const dag = { start_date: '2026-01-01T00:00:00+00:00' };
  const registered = '2026-01-10T12:00:00Z';
  for (const { id } of [engine.tenant, other])
    await registerScheduledDag(engine.db.tenant(id), { dagId: 'nightly', schedule, dag }, registered);
  const timetables = createTimetableRuns({
    db: engine.db,
    createRun: createRunCreator(createDagGraphs()),
    onEffects: () => {},
    log: { error: (details) => void engine.problems.push(details) },
  });
  const now = '2026-01-12T12:00:00Z';
  const runs = (tenantId: string) =>
    engine.db.tenant(tenantId).selectFrom('dag_runs').select('run_id').where('dag_id', '=', 'nightly').execute();
  await disable();
  expect((await timetables.createDue({ now, limit: 100 })).created).toBe(1);
  expect([(await runs(other.id)).length, (await runs(engine.tenant.id)).length]).toEqual([1, 0]);
  await enable();
  expect((await timetables.createDue({ now, limit: 100 })).created).toBe(1);
  expect((await runs(engine.tenant.id)).length).toBe(1);
});

it('makes no runs of asset events and none of backfills', async () => {
  await engine.register(makeSpec({ dagId: 'consumer', tasks: graphOf({ a: [] }) }));
  const asset = await engine.scope
    .insertInto('assets')
    .values({ name: 'a', uri: 'x://a', group_name: 'asset' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const event = await engine.scope
    .insertInto('asset_events')
    .values({ asset_id: asset.id })
    .returning('id')
    .executeTakeFirstOrThrow();
  await engine.scope
    .insertInto('asset_queue')
    .values({ dag_id: 'consumer', event_id: event.id, asset_id: asset.id })
    .execute();
  const backfill = await engine.scope
    .insertInto('backfills')
    .values({
      dag_id: 'consumer',
      from_date: '2026-01-01T00:00:00Z',
      to_date: '2026-01-02T00:00:00Z',
      dag_run_conf: null,
      reprocess_behavior: 'none',
      max_active_runs: 1,
      run_backwards: false,
      triggering_user_name: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await engine.scope
    .insertInto('dag_runs')
    .values({
      dag_id: 'consumer',
      run_id: 'of-backfill',
      run_type: 'backfill',
      state: 'queued',
      triggered_by: 'backfill',
      version_number: 1,
      run_after: '2026-01-01T00:00:00Z',
      backfill_id: backfill.id,
    })
    .execute();
  const key = { tenantId: engine.tenant.id, dagId: 'consumer' };
  const { shared } = engine.db;
  const seen = async () => ({
    events: (await findUnconsidered(shared, 100)).some(({ dagId }) => dagId === 'consumer'),
    consumer: (await lockConsumer(shared, key)) !== undefined,
    backfills: (await findBackfillsToAdvance(shared)).length,
    mayStart: (await lockBackfill(shared, { ...key, backfillId: backfill.id }))?.mayStart,
  });
  expect(await seen()).toEqual({ events: true, consumer: true, backfills: 1, mayStart: true });
  await disable();
  expect(await seen()).toEqual({ events: false, consumer: false, backfills: 0, mayStart: false });
});
