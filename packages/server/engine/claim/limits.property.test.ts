/**
 * No limit is ever exceeded, whatever the graphs and however many schedulers claim, hand over and trigger at once: looked at
 * from outside, in the database at any moment, and by the bodies that really ran.
 */
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { graphSpec } from '@svc/testing/engine/graph-runs.ts';
import { startSchedulerProcess } from '@svc/testing/engine/scheduler-process.ts';
import type { Body, SchedulerProcess } from '@svc/testing/engine/scheduler-process.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { SEED } from '@svc/testing/seed.ts';

const PROCESSES = 3;
let watcher: ScriptedScheduler;
let processes: SchedulerProcess[] = [];
beforeAll(async () => {
  watcher = await startScriptedScheduler({ capacity: 0 }); // looks on; it owns the database
  processes = await Promise.all(Array.from({ length: PROCESSES }, () => startSchedulerProcess(watcher.url, 40)));
}, 400_000);
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await watcher?.close();
});

const POOLS = { narrow: 2, wide: 5 } as const;

const dags = fc.record({
  maxActiveTasks: fc.integer({ min: 1, max: 4 }),
  maxActiveRuns: fc.integer({ min: 1, max: 4 }),
  tasks: fc.array(
    fc.record({
      after: fc.array(fc.nat(), { maxLength: 2 }),
      pool: fc.constantFrom('default_pool', 'narrow', 'narrow', 'wide'),
      slots: fc.constantFrom(1, 1, 2),
      perDag: fc.constantFrom(null, null, null, 1, 2),
      perRun: fc.constantFrom(null, null, null, 1),
      over: fc.constantFrom(0, 0, 5),
      weight: fc.nat(3),
    }),
    { minLength: 3, maxLength: 6 },
  ),
});
type Dag = typeof dags extends fc.Arbitrary<infer T> ? T : never;

const specOf = (dag: Dag, dagId: string) =>
  graphSpec({
    dagId,
    dag: { max_active_tasks: dag.maxActiveTasks, max_active_runs: dag.maxActiveRuns },
    tasks: Object.fromEntries(
      dag.tasks.map((task, index) => [
        `t${index}`,
        {
          after: [...new Set(index === 0 ? [] : task.after.map((number) => `t${number % index}`))],
          policy: {
            pool: task.pool,
            pool_slots: task.slots,
            max_active_tis_per_dag: task.perDag,
            max_active_tis_per_dagrun: task.perRun,
            priority_weight: task.weight,
          },
          ...(task.over > 0 && { over: task.over }),
        },
      ]),
    ),
  });

type Count = { limit: string; held: number };

/** One statement, so one moment: everything that holds a slot in it. */
async function counts(): Promise<Count[]> {
  const { rows } = await sql<Count>`
    with active as (select * from task_instances where state in ('queued', 'running'))
    select 'pool ' || pool as limit, sum(pool_slots)::int as held from active group by pool
    union all select 'tasks of run ' || dag_id || ' ' || run, count(*)::int from active group by dag_id, run
    union all select 'task ' || dag_id || ' ' || task_id, count(*)::int from active group by dag_id, task_id
    union all select 'task of run ' || dag_id || ' ' || task_id || ' ' || run, count(*)::int from active group by dag_id, task_id, run
    union all select 'runs of ' || dag_id, count(*)::int from dag_runs where state = 'running' group by dag_id`.execute(
    watcher.db.shared,
  );
  return rows;
}

/** What is not over, and where it stands. */
async function leftOver(): Promise<unknown[]> {
  const { rows } = await sql`
    select r.dag_id, r.id, r.state, (select json_agg(json_build_array(t.task_id, t.map_index, t.state, t.claimable, t.waits))
      from task_instances t where t.run = r.id and t.state is distinct from 'success' and t.state is not null) as instances
    from dag_runs r where r.state in ('queued', 'running') order by r.id`.execute(watcher.db.shared);
  return rows;
}

function limitsOf(drawn: ReadonlyMap<string, Dag>): (count: Count) => number {
  return ({ limit }) => {
    if (limit.startsWith('pool ')) return { ...POOLS, default_pool: 128 }[limit.slice(5)] ?? 0;
    const [, dagId = '', taskId = ''] = /(?:of run|of|task) (d\S+) ?(t\d+)?/.exec(limit) ?? [];
    const dag = drawn.get(dagId);
    const task = dag?.tasks[Number(taskId.slice(1))];
    if (limit.startsWith('runs of ')) return dag?.maxActiveRuns ?? 0;
    if (limit.startsWith('tasks of run ')) return dag?.maxActiveTasks ?? 0;
    return (limit.startsWith('task of run ') ? task?.perRun : task?.perDag) ?? Infinity;
  };
}

/** The most of them at one moment, by what they are counted as. */
function mostAtOnce(bodies: readonly Body[], keyOf: (body: Body) => string): Map<string, number> {
  const most = new Map<string, number>();
  for (const [key, own] of Map.groupBy(bodies, keyOf)) {
    const steps = own.flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ]);
    let now = 0;
    for (const { by } of steps.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
      now += by;
      most.set(key, Math.max(most.get(key) ?? 0, now));
    }
  }
  return most;
}

let rounds = 0;

it('limits of pools, runs, tasks and DAGs hold with several schedulers', async () => {
  for (const [name, slots] of Object.entries(POOLS))
    await watcher.scope.insertInto('pools').values({ name, slots }).execute();
  await fc.assert(
    fc.asyncProperty(fc.array(dags, { minLength: 2, maxLength: 3 }), async (drawn) => {
      rounds += 1;
      const byId = new Map(drawn.map((dag, index) => [`d${rounds}_${index}`, dag]));
      const limitOf = limitsOf(byId);
      for (const [dagId, dag] of byId) await processes[0]?.send({ register: specOf(dag, dagId) });
      const before = processes.map(({ bodies }) => bodies.length);
      const triggering = Promise.all(
        processes.flatMap((one) =>
          [...byId.keys()].flatMap((dagId) => [one.send({ trigger: dagId }), one.send({ trigger: dagId })]),
        ),
      );
      const exceeded = new Set<string>();
      const isOver = async (): Promise<boolean> => {
        for (const count of await counts())
          if (count.held > limitOf(count)) exceeded.add(`${count.limit}: ${count.held}`);
        const left = await leftOver();
        if (left.length > 0) throw new Error(`not ended: ${JSON.stringify(left)}`);
        return true;
      };
      await Promise.all([triggering, eventually(isOver, { everyMs: 5, withinMs: 120_000 })]);
      await eventually(isOver, { everyMs: 5, withinMs: 120_000 }); // of those that were triggered last
      expect([...exceeded]).toEqual([]);
      const bodies = processes.flatMap((one, index) => one.bodies.slice(before[index]));
      for (const [key, most] of mostAtOnce(bodies, ({ dagId, run }) => `tasks of run ${dagId} ${run}`))
        expect(most, key).toBeLessThanOrEqual(limitOf({ limit: key, held: most }));
      for (const [key, most] of mostAtOnce(bodies, ({ dagId, taskId }) => `task ${dagId} ${taskId}`))
        expect(most, key).toBeLessThanOrEqual(limitOf({ limit: key, held: most }));
      expect(processes.flatMap(({ problems }) => problems)).toEqual([]);
    }),
    { numRuns: 3, seed: SEED, endOnFailure: true },
  );
}, 400_000);
