import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import { openDatabase } from '../database.ts';
import type { Database, SharedDb } from '../database.ts';
import { foldWork, removeOrphanTotals } from './fold-work.ts';
import { readWork } from './read-work.ts';
import { COUNTERS, DURATIONS, WORK_COLUMNS } from './work-columns.ts';
import { releaseWorkLeases, takeWorkLease } from './work-lease.ts';

const RUNS = 6;
const MAPPED = 5;
const DAG = 'seeded';

let engine: ScriptedScheduler;
let db: Database;
/** What the script has done with attempts, by task and state afterwards. */
const done = new Map<string, number>();
let runsFailed = 0;

beforeAll(async () => {
  engine = await startScriptedScheduler();
  db = engine.db;
  const tries = new Map<string, number>();
  engine.setScript(({ taskId, run, mapIndex }) => {
    const key = `${run}/${taskId}/${mapIndex}`;
    const number = (tries.get(key) ?? 0) + 1;
    tries.set(key, number);
    // Every second run fails for good, after the two retries; mapped instance 0 fails once and then succeeds.
    const fails = taskId === 'flaky' ? run % 2 === 0 : taskId === 'mapped' && mapIndex === 0 && number === 1;
    const state = fails ? (number <= 2 ? 'up_for_retry' : 'failed') : 'success';
    done.set(`${taskId} ${state}`, (done.get(`${taskId} ${state}`) ?? 0) + 1);
    if (state === 'failed') runsFailed += 1;
    return { state: fails ? 'failed' : 'success' };
  });
  const tasks = graphOf({ first: [], flaky: ['first'], mapped: ['first'], last: ['flaky', 'mapped'] }, (id) => ({
    policy: { retries: 2, retry_delay: 0 },
    ...(id === 'mapped' && {
      rest: {
        mapping: {
          kind: 'expand',
          target: 'operator',
          arguments: [{ name: 'x', value: Array.from({ length: MAPPED }, (_, i) => i), length: MAPPED }],
          depends_on: [],
        },
      },
    }),
  }));
  await engine.register(makeSpec({ dagId: DAG, tasks }));
  const runs: number[] = [];
  for (let index = 0; index < RUNS; index += 1) runs.push(await engine.trigger(DAG));
  for (const run of runs) await engine.ended(run);
  await engine.scheduler.idle();
});
afterAll(() => engine?.close());

/** All counters as `metric dag task label: count`, folded or not. */
async function counters(from: Database = db): Promise<Record<string, number>> {
  const found = await readWork(from, { perTask: true, limit: 10_000 });
  const sums: Record<string, number> = {};
  const add = (words: readonly string[], count: number): void => {
    const key = words.filter((word) => word !== '').join(' ');
    if (count > 0) sums[key] = (sums[key] ?? 0) + count;
  };
  for (const [, dagId, taskId, ...numbers] of [...found.dags, ...found.changesOfDags]) {
    const numberOf = (column: string): number => numbers[WORK_COLUMNS.indexOf(column)] ?? 0;
    for (const { column, metric, state } of COUNTERS) add([metric, dagId, taskId, state], numberOf(column));
    for (const { column, metric } of DURATIONS) add([metric, dagId, taskId], numberOf(`${column}_count`));
  }
  for (const [, metric, label, count] of [...found.ofTenants, ...found.changesOfTenants]) add([metric, label], count);
  return sums;
}

const expectedCounters = (): Record<string, number> => {
  const attempts = [...done].map(([key, count]) => ({
    key,
    count,
    task: key.split(' ')[0] ?? '',
    state: key.split(' ')[1],
  }));
  const sum = (rows: typeof attempts): number => rows.reduce((total, { count }) => total + count, 0);
  const byTask = Object.fromEntries(
    [...Map.groupBy(attempts, ({ task }) => task)].flatMap(([task, rows]) =>
      ['ti.start', 'task.duration', 'task.queued_duration', 'task.scheduled_duration'].map((metric) => [
        `${metric} ${DAG} ${task}`,
        sum(rows),
      ]),
    ),
  );
  return {
    ...byTask,
    ...Object.fromEntries(attempts.map(({ key, count }) => [`ti.finish ${DAG} ${key}`, count])),
    'operator_successes BashOperator': sum(attempts.filter(({ state }) => state === 'success')),
    'operator_failures BashOperator': sum(attempts.filter(({ state }) => state !== 'success')),
    [`dagrun.duration.success ${DAG}`]: RUNS - runsFailed,
    [`dagrun.duration.failed ${DAG}`]: runsFailed,
  };
};

describe('the counters of work', () => {
  it('are exact after runs with failures, retries and mapped tasks, before and after they are folded', async () => {
    expect(runsFailed).toBe(RUNS / 2);
    expect(await counters()).toEqual(expectedCounters());
    expect((await foldWork(db, { perTask: true })).taken).toBeGreaterThan(0);
    expect(await counters()).toEqual(expectedCounters());
    expect(await foldWork(db, { perTask: true })).toEqual({ taken: 0, facts: [] });
  });

  it('count an attempt that runs as started, and an attempt that is cleared or deleted while it runs no second time', async () => {
    const before = await counters();
    engine.setScript(() => 'hang');
    const [cleared, deleted] = [await engine.run(graphOf({ a: [] })), await engine.run(graphOf({ a: [] }))];
    for (const run of [cleared, deleted]) await expect.poll(() => engine.states(run)).toEqual({ a: 'running' });
    const running = await readWork(db, { perTask: false, limit: 10_000 });
    expect(running.live.filter(({ state }) => state === 'running')).toHaveLength(2);
    expect(running.changesOfDags).toEqual([]);
    await engine.scope.deleteFrom('dag_runs').where('id', '=', deleted).execute();
    engine.setScript(() => ({ state: 'success' }));
    await engine.clear(cleared);
    await engine.ended(cleared);
    await engine.scheduler.idle();
    const after = await counters();
    const ofMetric = (metric: string): number =>
      Object.entries(after).reduce(
        (sum, [key, count]) => sum + (key.startsWith(`${metric} `) && before[key] === undefined ? count : 0),
        0,
      );
    expect(ofMetric('ti.start')).toBe(3);
    expect(ofMetric('ti.finish')).toBe(1);
  });

  it('a process that is killed between a fold and its commit loses nothing, and another fold takes nothing twice', async () => {
    const wanted = await counters();
    const victim = openDatabase({
      url: engine.url,
      maxOpenConns: 1,
      maxIdleConns: 1,
      statementTimeoutMs: 120_000,
      idleInTransactionTimeoutMs: 120_000,
    });
    const folded = Promise.withResolvers<number>();
    const killed = Promise.withResolvers<void>();
    const dying = victim.shared.transaction().execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      const { taken } = await foldWork(withConnection(victim, trx), { perTask: true });
      expect(taken).toBeGreaterThan(0);
      folded.resolve(rows[0]?.pid ?? 0);
      await killed.promise;
    });
    dying.catch(folded.reject);
    const pid = await folded.promise;
    expect(await counters()).toEqual(wanted);
    expect((await foldWork(db, { perTask: true })).taken).toBe(0); // the other process has locked them
    await sql`select pg_terminate_backend(${pid}, 5000)`.execute(db.shared);
    killed.resolve();
    expect(
      await dying.then(
        () => 'committed',
        () => 'lost',
      ),
    ).toBe('lost');
    expect(await counters()).toEqual(wanted);
    const folds = await Promise.all([1, 2, 3].map(() => foldWork(db, { perTask: true })));
    expect(folds.reduce((sum, { taken }) => sum + taken, 0)).toBeGreaterThan(0);
    expect(await counters()).toEqual(wanted);
    await victim.close();
  });

  it('of a deleted DAG go away, and those of its tenant stay, because a sum that falls looks like a restart', async () => {
    const before = await counters();
    await engine.scope.deleteFrom('dags').where('dag_id', '=', DAG).execute();
    await foldWork(db, { perTask: true });
    await removeOrphanTotals(db);
    const after = await counters();
    expect(Object.keys(after).filter((key) => key.includes(` ${DAG}`))).toEqual([]);
    expect(after['operator_successes BashOperator']).toBe(before['operator_successes BashOperator']);
  });
});

describe('the export of the metrics of work', () => {
  it('has one process at a time, or a sum over all processes counts everything twice', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const take = (holder: string, seconds = 60): Promise<boolean> =>
      takeWorkLease(db, { name: 'scrape', holder, seconds });
    expect(await Promise.all([take(one), take(one)])).toEqual([true, true]);
    expect(await take(other)).toBe(false);
    await releaseWorkLeases(db, one);
    expect(await take(other, 0)).toBe(true);
    expect(await take(one)).toBe(true); // the other one died: its time is over
  });
});

const withConnection = (from: Database, shared: SharedDb): Database => ({ ...from, shared });
