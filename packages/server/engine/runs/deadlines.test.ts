/** Deadlines of runs against a real database: when they are made, made anew, kept and missed. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { deadlineCall } from '../../agents/calls/deadline-call.ts';
import { readParams } from '../../agents/calls/call-context.ts';
import { listDeadlinesOfRuns } from '../../db/dag-runs/deadlines.ts';
import { markRun } from '../edit/change-run.ts';
import { claimCallbacks } from '../sql/callbacks.ts';
import { takeDueDeadlines } from '../sql/deadlines.ts';

const FIXED = '2999-01-01T00:00:00.000000Z';
const alert = (reference: string, given: object = {}) => ({
  reference,
  reference_arguments: given,
  interval: 60,
  callback: null,
});
const ALERTS = [
  alert('dagrun_queued_at'),
  alert('fixed_datetime', { datetime: { __type: 'datetime', value: FIXED } }),
  alert('average_runtime', { max_runs: 5, min_runs: 1 }),
  { ...alert('dagrun_queued_at'), name: 'slow' },
];
const [QUEUED, FIXED_DATE, AVERAGE, MISSED] = [0, 1, 2, 3];

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
  const spec = makeSpec({ tasks: [makeTask('a')], dagId: 'due' });
  await engine.register({ ...spec, dag: { ...spec.dag, deadlines: ALERTS as never } });
  await engine.ended(await engine.trigger('due')); // so that there is an average
});
afterAll(() => engine?.close());

const deadlinesOf = async (run: number): Promise<Map<number, { at: string; missed: boolean; kept: boolean }>> => {
  const rows = await engine.scope.selectFrom('deadlines').selectAll().where('run', '=', run).execute();
  const known = rows.map(
    (row) =>
      [row.position, { at: row.deadline_time, missed: row.missed_at !== null, kept: row.kept_at !== null }] as const,
  );
  return new Map(known);
};
const atOf = async (run: number, position = -1): Promise<string> => (await deadlinesOf(run)).get(position)?.at ?? '';

it('a run that is cleared gets new dates for what counts from its start, unless it was missed', async () => {
  const run = await engine.trigger('due');
  await engine.ended(run);
  expect([...(await deadlinesOf(run)).keys()].sort()).toEqual([QUEUED, FIXED_DATE, AVERAGE, MISSED]);
  await engine.scope
    .updateTable('deadlines')
    .set({ missed_at: new Date() })
    .where('run', '=', run)
    .where('position', '=', MISSED ?? -1)
    .execute();
  const before = await deadlinesOf(run);
  await engine.clear(run);
  await engine.ended(run);
  const after = await deadlinesOf(run);
  const isLater = (position = -1): boolean => (after.get(position)?.at ?? '') > (before.get(position)?.at ?? '9');
  expect([QUEUED, FIXED_DATE, AVERAGE, MISSED].map(isLater)).toEqual([true, false, true, false]);
  expect(after.get(FIXED_DATE ?? -1)).toEqual(before.get(FIXED_DATE ?? -1));
  expect(after.get(MISSED ?? -1)).toEqual(before.get(MISSED ?? -1));
});

it('a deadline keeps the name of its alert, for people and for the order of lists', async () => {
  const run = await engine.trigger('due');
  await engine.ended(run);
  const query = { limit: 1, offset: 0, dagId: 'due', deadlineTime: [], lastUpdatedAt: [] };
  const order = [{ column: 'alert_name', direction: 'desc' }] as const;
  const { deadlines } = await listDeadlinesOfRuns(engine.scope, { ...query, order });
  expect(deadlines).toMatchObject([{ alert_name: 'slow', position: MISSED }]);
});

it('so does one that a person queues again', async () => {
  const run = await engine.trigger('due');
  await engine.ended(run);
  const before = await atOf(run, QUEUED);
  const effects = await engine.db.shared
    .transaction()
    .execute((trx) => markRun(trx, engine.scheduler.graphs, { tenantId: engine.tenant.id, run, state: 'queued' }));
  expect(effects?.dueAt).not.toBeNull();
  expect((await atOf(run, QUEUED)) > before).toBe(true);
});

it('what was kept stays to be looked at, and counts anew when the run does', async () => {
  const run = await engine.trigger('due');
  await engine.ended(run);
  const soon = new Date(Date.now() + 1).toISOString();
  await engine.scope
    .updateTable('deadlines')
    .set({ deadline_time: soon })
    .where('run', '=', run)
    .where('position', '=', QUEUED ?? -1)
    .execute();
  // By the clock of the database, which may be a moment behind.
  const due = async () => engine.db.shared.transaction().execute((trx) => takeDueDeadlines(trx, 100));
  await expect.poll(due).toMatchObject([{ run, isMissed: false }]);
  expect((await deadlinesOf(run)).get(QUEUED ?? -1)).toMatchObject({ kept: true, missed: false });
  expect(await due()).toEqual([]);
  await engine.clear(run);
  expect((await deadlinesOf(run)).get(QUEUED ?? -1)).toMatchObject({ kept: false, missed: false });
});

it('a worker is asked once for the reference of an author, and only its first answer makes the deadline', async () => {
  const spec = makeSpec({ tasks: [makeTask('a')], dagId: 'own' });
  const deadlines = [alert('dagrun_logical_date'), { ...alert('custom', { class: 'Mine' }), name: 'mine' }];
  await engine.register({ ...spec, dag: { ...spec.dag, deadlines: deadlines as never } });
  const run = await engine.trigger('own');
  await engine.ended(run);
  await engine.clear(run);
  const asked = () =>
    engine.scope.selectFrom('callback_requests').selectAll().where('run', '=', run).orderBy('created_at').execute();
  expect((await asked()).map(({ which }) => which)).toEqual(['reference:1']);
  const [request] = await claimCallbacks(engine.db);
  const answer = (at: string, attemptId = request?.attempt_id ?? '') =>
    deadlineCall({ db: engine.db })({
      identity: { kind: 'callback', tenantId: engine.tenant.id, run, dagId: 'own', attemptId } as never,
      runId: '',
      version: { deadlines } as never,
      params: readParams(JSON.stringify({ position: 1, at })),
      requestId: '1',
    });
  await expect(answer('2030-01-01T00:00:00Z', crypto.randomUUID())).rejects.toThrow('was not asked');
  await expect(answer('tomorrow')).rejects.toThrow('at a moment');
  await answer('2030-01-01T00:00:00+01:00');
  await answer('2031-01-01T00:00:00Z');
  expect((await deadlinesOf(run)).get(1)).toMatchObject({ at: '2029-12-31T23:01:00.000000Z', missed: false });
});
