/** Whoever does not hold the lock of a run must not wait for a row of it while holding another: that would be a circle. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SharedDb } from '../db/database.ts';
import { lockInstances, lockRuns } from './sql/run-writes.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { Attempt } from './shared/attempts.ts';
import { releasePaused } from './advance/follow-ups.ts';
import { startAttempts } from './claim/start-attempts.ts';
import { renewLeases } from './sql/attempts.ts';
import { releaseForgotten } from './sql/waiting-instances.ts';

let engine: Awaited<ReturnType<typeof startScriptedScheduler>>;

beforeAll(async () => {
  engine = await startScriptedScheduler({ script: () => 'hang' });
});

afterAll(() => engine?.close());

/** Two tasks that run. */
async function running(): Promise<{ run: number; a: Attempt; b: Attempt }> {
  const run = await engine.run(graphOf({ a: [], b: [] }));
  await expect.poll(async () => engine.states(run)).toEqual({ a: 'running', b: 'running' });
  const of = (taskId: string): Attempt => {
    const attempt = engine.seen.find((seen) => seen.run === run && seen.taskId === taskId);
    if (!attempt) throw new Error(`${taskId} was not dispatched`);
    return attempt;
  };
  return { run, a: of('a'), b: of('b') };
}

const holding = <T>(work: (trx: SharedDb) => Promise<T>): Promise<T> =>
  engine.db.shared.transaction().execute((trx) => work(trx));

const pick = ({ run, taskId }: { run: number; taskId: string }) => ({
  tenantId: engine.tenant.id,
  run,
  taskId,
  mapIndex: -1,
});

/** As many backends of this database as wait for somebody's lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(engine.db.shared);
  return rows[0]?.count ?? 0;
}

describe('while a run is being planned, and one of its rows is held', () => {
  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('a set of starts waits for that row alone: %s', async (held, other) => {
    const { run, a, b } = await running();
    const worker = { hostname: 'test', pid: 7 }; // the one they run on
    const starts = await holding(async (trx) => {
      await lockRuns(trx, [pick(a)]);
      await lockInstances(trx, [pick({ run, taskId: held })]);
      const started = startAttempts(engine.db, [
        { ref: a, worker },
        { ref: b, worker },
      ]);
      await expect.poll(waiting).toBe(1);
      // Before, the set held this one.
      expect(await lockInstances(trx, [pick({ run, taskId: other })])).toMatchObject([{ pid: 7 }]);
      return { started };
    });
    expect(await starts.started).toMatchObject([
      { kind: 'started', instance: { task_id: 'a', pid: 7 } },
      { kind: 'started', instance: { task_id: 'b', pid: 7 } },
    ]);
  });

  it('a start that finds its attempt cancelled when the row is free stops', async () => {
    const { run, a, b } = await running();
    const worker = { hostname: 'test', pid: 7 }; // the one they run on
    const { started } = await holding(async (trx) => {
      await lockInstances(trx, [pick(a)]);
      const answers = startAttempts(engine.db, [
        { ref: a, worker },
        { ref: b, worker },
      ]);
      await expect.poll(waiting).toBe(1);
      await trx
        .updateTable('task_instances')
        .set({ state: 'failed', attempt_id: null })
        .where('run', '=', run)
        .where('task_id', '=', 'a')
        .execute();
      return { started: answers };
    });
    expect(await started).toMatchObject([{ kind: 'stop' }, { kind: 'started' }]);
  });

  it('leases of the other rows are renewed, and its own attempt is not told to stop', async () => {
    const { a, b } = await running();
    await holding(async (trx) => {
      await lockInstances(trx, [pick(a)]);
      expect(await renewLeases(engine.db, [a, b])).toEqual(new Set([a.attemptId, b.attemptId]));
    });
    const pids = engine.scope.selectFrom('task_instances').select(['task_id', 'pid']).where('run', '=', a.run);
    await renewLeases(engine.db, [{ ...a, pid: 41 }, b]);
    expect(await pids.orderBy('task_id').execute()).toEqual([
      { task_id: 'a', pid: 41 },
      { task_id: 'b', pid: 1 },
    ]);
    const gone = { ...b, attemptId: crypto.randomUUID() };
    expect(await renewLeases(engine.db, [a, gone])).toEqual(new Set([a.attemptId]));
  });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('what a pause held back is let through after it: %s', async (held, other) => {
    const { run, a } = await running();
    await engine.scope
      .updateTable('task_instances')
      .set({ state: 'scheduled', waits: 'paused', claimable: false, attempt_id: null })
      .where('run', '=', run)
      .execute();
    const { released } = await holding(async (trx) => {
      await lockRuns(trx, [pick(a)]);
      await lockInstances(trx, [pick({ run, taskId: held })]);
      const sent = releasePaused(engine.db, { tenantId: engine.tenant.id, dagId: a.dagId });
      await expect.poll(waiting).toBe(1);
      await lockInstances(trx, [pick({ run, taskId: other })]);
      return { released: sent };
    });
    await released;
    const rows = await engine.scope.selectFrom('task_instances').select('waits').where('run', '=', run).execute();
    expect(rows).toEqual([{ waits: null }, { waits: null }]);
  });

  it('the release of forgotten instances leaves it for the next time', async () => {
    const { run, a } = await running();
    await engine.scope
      .updateTable('task_instances')
      .set({ state: 'scheduled', waits: 'max_active_tis_per_dag', claimable: false, attempt_id: null })
      .where('run', '=', run)
      .execute();
    await holding(async (trx) => {
      await lockInstances(trx, [pick(a)]);
      expect(await releaseForgotten(engine.db)).toBe(1);
    });
    expect(await releaseForgotten(engine.db)).toBe(1);
  });
});
