import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { readUsage } from './stored-usage.ts';
import type { StoredUsage } from './stored-usage.ts';
import { foldWork } from './fold-work.ts';

const GIB = 2 ** 30;
const USED = { cpu: 1.5, run: 2, memory: GIB / 2, read: 100, written: 50 };

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

/** The usage of each try, oldest first. */
async function triesOf(run: number): Promise<StoredUsage[]> {
  const { rows } = await sql<{ usage: string | null }>`
    select usage, try_number from task_instance_history where run = ${run}
    union all select usage, try_number from task_instances t where run = ${run} and not exists (
      select from task_instance_history h where h.run = t.run and h.try_number = t.try_number)
    order by try_number`.execute(engine.db.shared);
  return rows.map(({ usage }) => readUsage(usage));
}

describe('the usage of a try', () => {
  it('belongs to that try, so a failed try keeps its own and the wait for the retry counts for the next', async () => {
    let tries = 0;
    engine.setScript(() => {
      tries += 1;
      return { state: tries === 1 ? 'failed' : 'success', usage: { ...USED, cpu: tries } };
    });
    const run = await engine.run(graphOf({ a: [] }, () => ({ policy: { retries: 1, retry_delay: 0.05 } })));
    await engine.ended(run);
    const [first, second] = await triesOf(run);
    expect(first).toMatchObject({ cpu: 1, run: 2, memory: GIB / 2, gib: 1, read: 100, written: 50 });
    expect(second).toMatchObject({ cpu: 2 });
    expect(first?.waits?.['retry_delay']).toBeUndefined();
    expect(second?.waits?.['retry_delay']).toBeGreaterThan(0);
  });

  it('is the sum of its attempts when it is rescheduled, except the memory, of which the largest counts', async () => {
    let pokes = 0;
    engine.setScript(() => {
      pokes += 1;
      if (pokes === 2) return { state: 'success', usage: { ...USED, memory: GIB / 4 } };
      return { state: 'reschedule', rescheduleAt: new Date().toISOString(), usage: USED };
    });
    const run = await engine.run(graphOf({ a: [] }));
    await engine.ended(run);
    const [only, ...others] = await triesOf(run);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ cpu: 3, run: 4, memory: GIB / 2, gib: 1.5, read: 200 });
    expect(only?.waits?.['reschedule']).toBeGreaterThanOrEqual(0);
  });

  it('begins again when the instance is cleared, or a new try would show what an old one has used', async () => {
    engine.setScript(() => ({ state: 'success', usage: USED }));
    const run = await engine.run(graphOf({ a: [] }));
    await engine.ended(run);
    engine.setScript(() => 'hang');
    await engine.clear(run);
    await expect.poll(() => engine.states(run)).toEqual({ a: 'running' });
    const [first, second] = await triesOf(run);
    expect(first).toMatchObject({ cpu: 1.5 });
    expect(second).toEqual({});
  });

  it('names the reason for which a queued instance waited, and how long', async () => {
    engine.setScript(() => 'hang');
    const run = await engine.run(graphOf({ a: [] }));
    await expect.poll(() => engine.states(run)).toEqual({ a: 'running' });
    const wait = (waits: string | null) =>
      sql`update task_instances set waits = ${waits} where run = ${run}`.execute(engine.db.shared);
    await wait('image_pull: registry');
    await wait('pod_unschedulable: no node');
    await wait(null);
    const [only] = await triesOf(run);
    expect(Object.keys(only?.waits ?? {}).toSorted()).toEqual(['image_pull', 'pod_unschedulable']);
  });

  it('is added up by day exactly once, however often the facts are folded', async () => {
    engine.setScript(() => ({ state: 'success', usage: USED }));
    await foldWork(engine.db, { perTask: false });
    const total = async () => {
      const { rows } = await sql<{ tries: number; cpu: number; memory: number }>`
        select coalesce(sum(tries), 0)::int as tries, coalesce(sum(cpu_seconds), 0) as cpu, max(memory_bytes) as memory
        from usage_days`.execute(engine.db.shared);
      return rows[0] ?? { tries: 0, cpu: 0, memory: 0 };
    };
    const before = await total();
    for (const run of [await engine.run(graphOf({ a: [], b: ['a'] })), await engine.run(graphOf({ a: [] }))])
      await engine.ended(run);
    await Promise.all([1, 2].map(() => foldWork(engine.db, { perTask: false })));
    await foldWork(engine.db, { perTask: false });
    expect(await total()).toEqual({ tries: before.tries + 3, cpu: before.cpu + 4.5, memory: GIB / 2 });
  });
});
