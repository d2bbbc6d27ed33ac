/** Clearing and marking with the scheduler at work: what was cleared runs again, and nothing runs twice by it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { graphSpec } from '@svc/testing/engine/graph-runs.ts';
import type { Graph } from '@svc/testing/engine/graph-runs.ts';
import { startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { Attempt, AttemptOutcome } from '../shared/attempts.ts';
import { clearRuns } from './clear-many.ts';
import type { ClearOptions } from './clear.ts';
import { markRuns } from './mark-many.ts';
import type { InstanceChoice, RunKey } from './select-instances.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine?.close());

/** How tasks end, by name; whatever is not named succeeds. */
let ends: Record<string, AttemptOutcome | 'hang'> = {};
beforeEach(() => {
  ends = {};
  engine.seen.length = 0;
  engine.cancelled.length = 0;
  engine.setScript((attempt) => ends[nameOf(attempt)] ?? ends[attempt.taskId] ?? { state: 'success' });
});

const nameOf = ({ taskId, mapIndex }: { taskId: string; mapIndex: number }) =>
  mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;
const ranOf = (run: number) =>
  engine.seen
    .filter((attempt) => attempt.run === run)
    .map(nameOf)
    .toSorted();
const list = (length: number) => ({
  state: 'success' as const,
  xcoms: [{ key: 'return_value', value: JSON.stringify(Array.from({ length }, (_item, index) => index)) }],
});

let dags = 0;
async function newDag(graph: Omit<Graph, 'dagId'>): Promise<string> {
  const dagId = `dag_${(dags += 1)}`;
  await engine.register(graphSpec({ ...graph, dagId }));
  return dagId;
}
const runKey = async (id: number): Promise<RunKey & { dagId: string }> =>
  engine.scope
    .selectFrom('dag_runs')
    .select(['id', 'run_id as runId', 'dag_id as dagId'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

async function clear(run: number, tasks: readonly InstanceChoice[] | null, more: Partial<ClearOptions> = {}) {
  const { dagId, ...key } = await runKey(run);
  return clearRuns(engine.db, engine.scheduler, {
    tenantId: engine.tenant.id,
    dagId,
    runs: [key],
    options: {
      tasks,
      includeUpstream: false,
      includeDownstream: false,
      onlyFailed: false,
      resetRun: true,
      onLatestVersion: false,
      preventRunning: false,
      ...more,
    },
  });
}
async function mark(run: number, taskId: string, state: 'success' | 'failed' | 'skipped') {
  const { dagId, ...key } = await runKey(run);
  const options = { tasks: [{ taskId }], state, includeUpstream: false, includeDownstream: false };
  return markRuns(engine.db, engine.scheduler, { tenantId: engine.tenant.id, dagId, runs: [key], options });
}
const triesOf = async (run: number) => {
  const rows = await engine.scope.selectFrom('task_instances').selectAll().where('run', '=', run).execute();
  return Object.fromEntries(
    rows.map((row) => [nameOf({ taskId: row.task_id, mapIndex: row.map_index }), row.try_number]),
  );
};
const historyOf = async (run: number) => {
  const rows = await engine.scope.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute();
  return rows
    .map((row) => `${nameOf({ taskId: row.task_id, mapIndex: row.map_index })} ${row.try_number} ${row.state}`)
    .toSorted();
};
/** The numbers a run keeps, and what they should be. */
async function expectTrueCounts(run: number) {
  const { state_counts: kept } = await engine.scope
    .selectFrom('dag_runs')
    .select('state_counts')
    .where('id', '=', run)
    .executeTakeFirstOrThrow();
  const counted: Record<string, number> = {};
  for (const state of Object.values(await engine.states(run)))
    counted[state ?? 'none'] = (counted[state ?? 'none'] ?? 0) + 1;
  expect(kept).toEqual(counted);
}

const CHAIN = { tasks: { a: {}, b: { after: ['a'] }, c: { after: ['b'] } } };

describe('clearing', () => {
  it('a failed task lets the run go on from there, and only from there', async () => {
    ends = { b: { state: 'failed' } };
    const run = await engine.trigger(await newDag(CHAIN));
    expect(await engine.ended(run)).toBe('failed');
    ends = {};
    await clear(run, null, { onlyFailed: true });
    expect(await engine.ended(run)).toBe('success');
    expect(ranOf(run)).toEqual(['a', 'b', 'b', 'c']);
    expect(await triesOf(run)).toEqual({ a: 1, b: 2, c: 1 });
    expect(await historyOf(run)).toEqual(['b 1 failed']);
    await expectTrueCounts(run);
  });

  it('leaves what dbt did in the try before, and so does a retry; other values are gone', async () => {
    const values = ['dbt_run_results', 'other'].map((key) => ({ key, value: '{}' }));
    const left = async (run: number): Promise<string[]> => {
      const rows = await engine.scope.selectFrom('xcoms').select('key').where('run', '=', run).execute();
      return rows.map(({ key }) => key).toSorted();
    };
    ends = { a: { state: 'failed', xcoms: values } };
    const cleared = await engine.trigger(await newDag({ tasks: { a: {} } }));
    await engine.ended(cleared);
    expect(await left(cleared)).toEqual(['dbt_run_results', 'other']);
    ends = {};
    await clear(cleared, null);
    await engine.ended(cleared);
    expect(await left(cleared)).toEqual(['dbt_run_results']);

    let tries = 0;
    engine.setScript(() => ((tries += 1) === 1 ? { state: 'failed', xcoms: values } : { state: 'success' }));
    const retried = await engine.trigger(await newDag({ tasks: { a: { policy: { retries: 1, retry_delay: 0 } } } }));
    expect(await engine.ended(retried)).toBe('success');
    expect(await left(retried)).toEqual(['dbt_run_results']);
  });

  it('everything runs everything once more, in order', async () => {
    const run = await engine.trigger(await newDag(CHAIN));
    await engine.ended(run);
    await clear(run, null);
    expect(await engine.ended(run)).toBe('success');
    expect(engine.seen.filter((attempt) => attempt.run === run).map(nameOf)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(await historyOf(run)).toEqual(['a 1 success', 'b 1 success', 'c 1 success']);
  });

  it('gives a task its retries again', async () => {
    ends = { a: { state: 'failed' } };
    const run = await engine.trigger(await newDag({ tasks: { a: { policy: { retries: 1, retry_delay: 0 } } } }));
    await expect.poll(() => engine.scheduler.tick().then(() => engine.runState(run))).toBe('failed');
    expect(ranOf(run)).toHaveLength(2);
    await clear(run, null);
    await expect.poll(() => engine.scheduler.tick().then(() => engine.runState(run))).toBe('failed');
    expect(ranOf(run)).toHaveLength(4);
    expect(await historyOf(run)).toEqual(['a 1 failed', 'a 2 failed', 'a 3 failed']);
  });

  it('a running task supersedes its attempt: it is cancelled, and what it says later changes nothing', async () => {
    ends = { b: 'hang' };
    const run = await engine.trigger(await newDag(CHAIN));
    await expect.poll(async () => (await engine.states(run))['b']).toBe('running');
    const old = engine.seen.findLast((attempt): attempt is Attempt => attempt.taskId === 'b');
    if (!old) throw new Error('not dispatched');
    await clear(run, [{ taskId: 'b' }]);
    expect(engine.cancelled).toEqual([old.attemptId]);
    await expect.poll(() => ranOf(run)).toEqual(['a', 'b', 'b']);
    expect(await engine.scheduler.attempts.finish(old, { state: 'failed' })).toBe('stale');
    expect(await engine.scheduler.attempts.heartbeat([old])).toEqual(new Set([old.attemptId]));
    const fresh = engine.seen.findLast((attempt) => attempt.taskId === 'b' && attempt.attemptId !== old.attemptId);
    if (!fresh) throw new Error('not dispatched again');
    await expect.poll(async () => (await engine.states(run))['b']).toBe('running');
    expect(await engine.scheduler.attempts.finish(fresh, { state: 'success' })).toBe('recorded');
    expect(await engine.ended(run)).toBe('success');
    expect(await historyOf(run)).toEqual(['b 1 failed']);
    const tries = await engine.scope.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute();
    expect(tries.map((row) => row.failure_reason)).toEqual(['cleared: a user cleared the task while it was running']);
    await expectTrueCounts(run);
  });

  it('a task whose children have finished leaves them as they are', async () => {
    const run = await engine.trigger(await newDag(CHAIN));
    await engine.ended(run);
    await clear(run, [{ taskId: 'a' }]);
    expect(await engine.ended(run)).toBe('success');
    expect(ranOf(run)).toEqual(['a', 'a', 'b', 'c']);
  });

  it('a branch lets it choose again', async () => {
    const graph = { tasks: { branch: {}, left: { after: ['branch'] }, right: { after: ['branch'] } } };
    ends = { branch: { state: 'success', skips: ['left'] } };
    const run = await engine.trigger(await newDag(graph));
    await engine.ended(run);
    expect(await engine.states(run)).toEqual({ branch: 'success', left: 'skipped', right: 'success' });
    ends = { branch: { state: 'success', skips: ['right'] } };
    await clear(run, null);
    await engine.ended(run);
    expect(await engine.states(run)).toEqual({ branch: 'success', left: 'success', right: 'skipped' });
    await clear(run, [{ taskId: 'right' }]); // the choice still stands
    await engine.ended(run);
    expect(await engine.states(run)).toMatchObject({ right: 'skipped' });
  });

  it('with relatives takes the setup and the teardown along that the task needs', async () => {
    const graph = {
      tasks: {
        up: { role: 'setup' as const },
        work: { after: ['up'] },
        more: { after: ['work'] },
        down: {
          after: ['up', 'more'],
          role: 'teardown' as const,
          policy: { trigger_rule: 'all_done_setup_success' as const },
        },
        after: { after: ['more'] },
      },
    };
    const run = await engine.trigger(await newDag(graph));
    await engine.ended(run);
    const named = async (more: Partial<ClearOptions>) => {
      const outcome = await clear(run, [{ taskId: 'work' }], more);
      await engine.ended(run);
      return outcome.kind === 'cleared' ? outcome.instances.map(nameOf) : outcome;
    };
    expect(await named({})).toEqual(['work']);
    expect(await named({ includeUpstream: true })).toEqual(['down', 'up', 'work']);
    expect(await named({ includeDownstream: true })).toEqual(['after', 'down', 'more', 'up', 'work']);
  });
});

describe('clearing mapped tasks', () => {
  const MAPPED = { tasks: { src: {}, m: { after: ['src'], over: 'src' }, z: { after: ['m'] } } };

  it('with what they are expanded over expands them over the new value, and their tries go on', async () => {
    ends = { src: list(2) };
    const run = await engine.trigger(await newDag(MAPPED));
    await engine.ended(run);
    ends = { src: list(3) };
    await clear(run, null);
    expect(await engine.ended(run)).toBe('success');
    expect(await triesOf(run)).toEqual({ src: 2, 'm[0]': 2, 'm[1]': 2, 'm[2]': 2, z: 2 });
    expect(await historyOf(run)).toEqual(['m[0] 1 success', 'm[1] 1 success', 'src 1 success', 'z 1 success']);
    ends = { src: list(1) };
    await clear(run, [{ taskId: 'src' }], { includeDownstream: true });
    expect(await engine.ended(run)).toBe('success');
    expect(await engine.states(run)).toEqual({ src: 'success', 'm[0]': 'success', z: 'success' });
    await expectTrueCounts(run);
  });

  it('without what they are expanded over runs the same instances again, all of them or one', async () => {
    ends = { src: list(3), 'm[1]': { state: 'failed' } };
    const run = await engine.trigger(await newDag(MAPPED));
    expect(await engine.ended(run)).toBe('failed');
    ends = {};
    await clear(run, [{ taskId: 'm', mapIndex: 1 }, { taskId: 'z' }]);
    expect(await engine.ended(run)).toBe('success');
    expect(await triesOf(run)).toEqual({ src: 1, 'm[0]': 1, 'm[1]': 2, 'm[2]': 1, z: 1 });
    await clear(run, [{ taskId: 'm' }]);
    expect(await engine.ended(run)).toBe('success');
    expect(await triesOf(run)).toEqual({ src: 1, 'm[0]': 2, 'm[1]': 3, 'm[2]': 2, z: 1 });
  });

  it('in a mapped group clears the same map index of what comes after, and all of what is outside', async () => {
    const graph = {
      tasks: {
        src: {},
        'g.one': { after: ['src'], group: 'g' },
        'g.two': { after: ['g.one'], group: 'g' },
        z: { after: ['g.two'] },
      },
      mappedGroups: { g: 'src' },
    };
    ends = { src: list(2) };
    const run = await engine.trigger(await newDag(graph));
    expect(await engine.ended(run)).toBe('success');
    const outcome = await clear(run, [{ taskId: 'g.one', mapIndex: 1 }], { includeDownstream: true });
    expect(outcome).toMatchObject({ kind: 'cleared' });
    expect(outcome.kind === 'cleared' && outcome.instances.map(nameOf)).toEqual(['g.one[1]', 'g.two[1]', 'z']);
    expect(await engine.ended(run)).toBe('success');
    expect(await triesOf(run)).toEqual({ src: 1, 'g.one[0]': 1, 'g.one[1]': 2, 'g.two[0]': 1, 'g.two[1]': 2, z: 2 });
    ends = { src: list(3) };
    await clear(run, null);
    expect(await engine.ended(run)).toBe('success');
    expect(Object.keys(await engine.states(run))).toHaveLength(8);
    await expectTrueCounts(run);
  });
});

describe('clearing to the newest version', () => {
  it('adds its tasks, removes what is gone and not finished, and runs what was cleared as the new version says', async () => {
    ends = { b: { state: 'failed' } };
    const dagId = await newDag({
      tasks: { a: {}, b: { after: ['a'] }, gone: { after: ['b'] }, done: { after: ['a'] } },
    });
    const run = await engine.trigger(dagId);
    expect(await engine.ended(run)).toBe('failed');
    ends = {};
    await engine.register(
      graphSpec({ dagId, tasks: { a: {}, b: { after: ['a'], over: 2 }, added: { after: ['b'] } } }),
    );
    await clear(run, null, { onlyFailed: true, onLatestVersion: true });
    expect(await engine.ended(run)).toBe('success');
    expect(await engine.states(run)).toEqual({
      a: 'success',
      'b[0]': 'success',
      'b[1]': 'success',
      added: 'success',
      done: 'success',
      gone: 'upstream_failed',
    });
    expect(
      engine.seen
        .filter((attempt) => attempt.run === run && attempt.taskId === 'b')
        .map((attempt) => attempt.versionNumber),
    ).toEqual([1, 2, 2]);
    await expectTrueCounts(run);
  });

  it('takes map indexes away from a task that is not mapped any more', async () => {
    const dagId = await newDag({ tasks: { m: { over: 3 }, z: { after: ['m'] } } });
    const run = await engine.trigger(dagId);
    await engine.ended(run);
    await engine.register(graphSpec({ dagId, tasks: { m: {}, z: { after: ['m'] } } }));
    await clear(run, [{ taskId: 'm', mapIndex: 1 }], { onLatestVersion: true, includeDownstream: true });
    expect(await engine.ended(run)).toBe('success');
    expect(await triesOf(run)).toEqual({ m: 2, z: 2 });
    await expectTrueCounts(run);
  });

  it('can add the tasks that are new and leave all others as they are', async () => {
    const dagId = await newDag(CHAIN);
    const run = await engine.trigger(dagId);
    await engine.ended(run);
    await engine.register(graphSpec({ dagId, tasks: { ...CHAIN.tasks, d: { after: ['c'] } } }));
    await clear(run, [], { onLatestVersion: true });
    expect(await engine.ended(run)).toBe('success');
    expect(ranOf(run)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('marking', () => {
  it('a failed task successful lets what it held up run', async () => {
    ends = { b: { state: 'failed' } };
    const run = await engine.trigger(await newDag(CHAIN));
    expect(await engine.ended(run)).toBe('failed');
    await mark(run, 'b', 'success');
    expect(await engine.ended(run)).toBe('success');
    expect(ranOf(run)).toEqual(['a', 'b', 'c']);
    await expectTrueCounts(run);
  });

  it('a running task ends its attempt, and the run goes on', async () => {
    ends = { b: 'hang' };
    const run = await engine.trigger(await newDag(CHAIN));
    await expect.poll(async () => (await engine.states(run))['b']).toBe('running');
    await mark(run, 'b', 'success');
    expect(engine.cancelled).toHaveLength(1);
    expect(await engine.ended(run)).toBe('success');
    expect(ranOf(run)).toEqual(['a', 'b', 'c']);
  });

  it('lets the next run go on that waited for its past', async () => {
    const policy = { depends_on_past: true };
    const dagId = await newDag({ tasks: { a: { policy } } });
    ends = { a: { state: 'failed' } };
    const first = await engine.trigger(dagId, { logicalDate: '2026-01-01T00:00:00Z' });
    expect(await engine.ended(first)).toBe('failed');
    ends = {};
    const second = await engine.trigger(dagId, { logicalDate: '2026-01-02T00:00:00Z' });
    expect(await engine.states(second)).toEqual({ a: null });
    await mark(first, 'a', 'success');
    expect(await engine.ended(second)).toBe('success');
  });

  it('lets an instance through that the limit of the run held back', async () => {
    ends = { m: 'hang' };
    const dagId = await newDag({ tasks: { m: { over: 3 } }, dag: { max_active_tasks: 2 } });
    const run = await engine.trigger(dagId);
    await expect.poll(() => ranOf(run)).toHaveLength(2);
    const { dagId: _dag, ...key } = await runKey(run);
    const running = engine.seen.find((attempt) => attempt.run === run)?.mapIndex ?? 0;
    await markRuns(engine.db, engine.scheduler, {
      tenantId: engine.tenant.id,
      dagId,
      runs: [key],
      options: {
        tasks: [{ taskId: 'm', mapIndex: running }],
        state: 'success',
        includeUpstream: false,
        includeDownstream: false,
      },
    });
    await expect.poll(() => ranOf(run)).toHaveLength(3);
  });
});

describe('a run without instances of some task, because of its dates', () => {
  const late = { start_date: '2026-01-12T00:00:00+00:00' };
  const on = (day: string) => ({
    logicalDate: `2026-01-${day}T00:00:00.000000Z`,
    runAfter: '2026-02-01T00:00:00.000000Z',
  });
  const early = on('05');

  it('fails when all that is left waits for that task, also after it was cleared; instances keep no state', async () => {
    const dagId = await newDag({ tasks: { a: {}, late: { policy: late }, c: { after: ['a', 'late'] } } });
    const run = await engine.trigger(dagId, early);
    expect(await engine.ended(run)).toBe('failed');
    expect(await engine.states(run)).toEqual({ a: 'success', c: null });
    await clear(run, null);
    await expect.poll(() => ranOf(run)).toEqual(['a', 'a']);
    expect(await engine.ended(run)).toBe('failed');
    expect(await engine.states(run)).toEqual({ a: 'success', c: null });
    await expectTrueCounts(run);
  });

  it('ends by its other tasks where nothing waits for that one, and with success where there are none', async () => {
    const alone = await engine.trigger(
      await newDag({ tasks: { a: {}, b: { after: ['a'] }, late: { policy: late } } }),
      early,
    );
    expect(await engine.ended(alone)).toBe('success');
    expect(await engine.states(alone)).toEqual({ a: 'success', b: 'success' });
    const empty = await engine.trigger(await newDag({ tasks: { late: { policy: late } } }), early);
    expect(await engine.ended(empty)).toBe('success');
    expect(await engine.states(empty)).toEqual({});
  });

  it('goes on waiting for the past of a task, as long as that may change', async () => {
    const policy = { depends_on_past: true };
    const dagId = await newDag({ tasks: { a: { policy }, late: { policy: late }, c: { after: ['late'] } } });
    ends = { a: { state: 'failed' } };
    const first = await engine.trigger(dagId, on('04'));
    expect(await engine.ended(first)).toBe('failed');
    const second = await engine.trigger(dagId, early);
    await engine.trigger(await newDag({ tasks: { b: {} } })).then((run) => engine.ended(run));
    expect(await engine.states(second)).toEqual({ a: null, c: null });
    const { state } = await engine.scope
      .selectFrom('dag_runs')
      .select('state')
      .where('id', '=', second)
      .executeTakeFirstOrThrow();
    expect(state).toBe('running');
  });
});
