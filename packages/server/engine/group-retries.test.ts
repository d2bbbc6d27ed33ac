/** `retries=` of TaskGroup and DAG: what has failed is tried again together, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { graphOf, startScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import type { Script, ScriptedScheduler } from '@svc/testing/engine/scripted-scheduler.ts';
import { makeSpec } from '@svc/testing/spec/make-spec.ts';
import type { CompiledSpec, GroupSpec } from '@svc/spec/schema.ts';
import type { Attempt, AttemptOutcome } from './shared/attempts.ts';

let engine: ScriptedScheduler;
beforeAll(async () => {
  engine = await startScriptedScheduler();
});
afterAll(() => engine.close());

type Group = Pick<GroupSpec, 'group_id'> & Partial<GroupSpec>;

/** `inside`: the group of each task; tasks without one are in no group. */
function specWith(
  upstream: Record<string, readonly string[]>,
  input: { inside?: Record<string, string>; groups?: readonly Group[]; rest?: Parameters<typeof graphOf>[1] } & {
    dag?: Partial<CompiledSpec['dag']>;
  },
): CompiledSpec {
  const { inside = {}, groups = [], dag, rest = () => ({}) } = input;
  const tasks = graphOf(upstream, (taskId) => ({ ...rest(taskId), group: inside[taskId] ?? null }));
  const spec = makeSpec({ tasks, dagId: `dag_${crypto.randomUUID().slice(0, 8)}`, ...(dag && { dag }) });
  const [root] = spec.groups;
  if (!root) throw new Error('unreachable: a spec has a root group');
  const ids = Object.keys(upstream);
  const childrenOf = (groupId: string | null) => [
    ...ids.filter((id) => (inside[id] ?? null) === groupId).map((id) => ({ kind: 'task' as const, id })),
    ...groups
      .filter((group) => (group.parent_id ?? null) === groupId)
      .map((group) => ({ kind: 'group' as const, id: group.group_id ?? '' })),
  ];
  const all = [{ group_id: null }, ...groups].map((group) => ({
    ...root,
    label: group.group_id,
    display_name: group.group_id,
    ...group,
    children: childrenOf(group.group_id),
  }));
  return { ...spec, groups: all };
}

async function start(spec: CompiledSpec, script: Script): Promise<number> {
  engine.setScript(script);
  await engine.register(spec);
  return engine.trigger(spec.dag.dag_id);
}

const triesOf = (run: number): string[] =>
  engine.seen
    .filter((one) => one.run === run)
    .map(({ taskId, mapIndex, tryNumber }) => `${taskId}${mapIndex < 0 ? '' : `[${mapIndex}]`}#${tryNumber}`);

const rowOf = (run: number, taskId: string, mapIndex = -1) =>
  engine.scope
    .selectFrom('task_instances')
    .selectAll()
    .where('run', '=', run)
    .where('task_id', '=', taskId)
    .where('map_index', '=', mapIndex)
    .executeTakeFirstOrThrow();

/** Fails the first `times` tries of the instances, with the names of `triesOf`. */
type Outcomes = (attempt: Attempt) => AttemptOutcome;

const failing =
  (times: Record<string, number>): Outcomes =>
  ({ taskId, mapIndex, tryNumber }) => {
    const name = mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;
    return { state: tryNumber <= (times[name] ?? 0) ? 'failed' : 'success' };
  };

/** Attempts that end when the test says so, in addition to what the script says of others. */
function holding(taskId: string, others: Outcomes): { script: Script; release: () => void } {
  const gate = Promise.withResolvers<void>();
  return {
    script: async (attempt) => {
      if (attempt.taskId === taskId) await gate.promise;
      return others(attempt);
    },
    release: gate.resolve,
  };
}

describe('retries of a task group', () => {
  it('wait for the other tasks of the group, run only what has failed, and hide the failure from tasks outside', async () => {
    const spec = specWith(
      { a: [], b: [], c: ['a'], out: ['a'], alarm: ['a'] },
      {
        inside: { a: 'g', b: 'g', c: 'g' },
        groups: [{ group_id: 'g', parent_id: null, retries: 1 }],
        rest: (id) => (id === 'alarm' ? { policy: { trigger_rule: 'one_failed' } } : {}),
      },
    );
    const { script, release } = holding('b', failing({ a: 1 }));
    const run = await start(spec, script);
    await eventually(async () => (await rowOf(run, 'a')).state === 'up_for_retry');
    expect(await rowOf(run, 'a')).toMatchObject({ waits: 'group_retry', due_at: null, group_retries: 0, max_tries: 1 });
    await engine.scheduler.tick();
    expect(await engine.states(run)).toEqual({ a: 'up_for_retry', alarm: null, b: 'running', c: null, out: null });
    release();
    expect(await engine.ended(run)).toBe('success');
    expect(triesOf(run).toSorted()).toEqual(['a#1', 'a#2', 'b#1', 'c#1', 'out#1']);
    expect(await rowOf(run, 'a')).toMatchObject({ state: 'success', try_number: 2, group_retries: 1 });
    expect((await engine.states(run))['alarm']).toBe('skipped');
    const history = await engine.scope.selectFrom('task_instance_history').selectAll().where('run', '=', run).execute();
    expect(history.map(({ task_id: id, try_number: number }) => `${id}#${number}`)).toEqual(['a#1']);
  });

  it('are those of the whole group, so a task that fails for the first time later has none left', async () => {
    const spec = specWith(
      { a: [], b: ['a'], after: ['b'] },
      { inside: { a: 'g', b: 'g' }, groups: [{ group_id: 'g', parent_id: null, retries: 1 }] },
    );
    const run = await start(spec, failing({ a: 1, b: 1 }));
    expect(await engine.ended(run)).toBe('failed');
    expect(triesOf(run)).toEqual(['a#1', 'a#2', 'b#1']);
    expect(await engine.states(run)).toEqual({ a: 'success', after: 'upstream_failed', b: 'failed' });
  });

  it('come after the retries of the task, and give it those again', async () => {
    const spec = specWith(
      { a: [] },
      {
        inside: { a: 'g' },
        groups: [{ group_id: 'g', parent_id: null, retries: 2 }],
        rest: () => ({ policy: { retries: 1, retry_delay: 0 } }),
      },
    );
    const run = await start(spec, failing({ a: 9 }));
    expect(await engine.ended(run)).toBe('failed');
    expect(triesOf(run)).toEqual(['a#1', 'a#2', 'a#3', 'a#4', 'a#5', 'a#6']);
    expect(await rowOf(run, 'a')).toMatchObject({ group_retries: 2, max_tries: 5 });
  });

  it('belong to each item of a mapped group alone', async () => {
    const spec = specWith(
      { a: [], b: ['a'] },
      {
        inside: { a: 'g', b: 'g' },
        groups: [
          {
            group_id: 'g',
            parent_id: null,
            retries: 1,
            mapping: {
              kind: 'expand',
              target: 'function',
              arguments: [{ name: 'x', value: [1, 2], length: 2 }],
              depends_on: [],
            },
          },
        ],
      },
    );
    const run = await start(spec, failing({ 'a[0]': 1, 'b[1]': 2 }));
    expect(await engine.ended(run)).toBe('failed');
    expect(triesOf(run).toSorted()).toEqual(['a[0]#1', 'a[0]#2', 'a[1]#1', 'b[0]#1', 'b[1]#1', 'b[1]#2']);
    expect(await rowOf(run, 'b', 0)).toMatchObject({ state: 'success', group_retries: 1 });
  });

  it('keep what a setup has made until the last try, and a teardown that fails uses none', async () => {
    const spec = specWith(
      { make: [], work: ['make'], remove: ['make', 'work'] },
      {
        inside: { make: 'g', work: 'g', remove: 'g' },
        groups: [{ group_id: 'g', parent_id: null, retries: 1 }],
        rest: (id) => ({
          ...(id === 'remove' && { policy: { trigger_rule: 'all_done_setup_success' as const } }),
          rest: { is_setup: id === 'make', is_teardown: id === 'remove' },
        }),
      },
    );
    const run = await start(spec, failing({ work: 1, remove: 9 }));
    expect(await engine.ended(run)).toBe('success');
    expect(triesOf(run)).toEqual(['make#1', 'work#1', 'work#2', 'remove#1']);
  });

  it('are not used for a failure that asks not to be retried, and 0 takes them from a group within', async () => {
    const spec = specWith(
      { a: [], b: [] },
      {
        inside: { a: 'g', b: 'g.h' },
        groups: [
          { group_id: 'g', parent_id: null, retries: 3 },
          { group_id: 'g.h', parent_id: 'g', retries: 0 },
        ],
      },
    );
    const run = await start(spec, () => ({ state: 'failed', retryable: false }));
    expect(await engine.ended(run)).toBe('failed');
    const again = await start(spec, ({ taskId }) => ({ state: 'failed', retryable: taskId === 'b' }));
    expect(await engine.ended(again)).toBe('failed');
    expect([triesOf(run).toSorted(), triesOf(again).toSorted()]).toEqual([
      ['a#1', 'b#1'],
      ['a#1', 'b#1'],
    ]);
  });
});

describe('retries of a run', () => {
  it('try what has failed again when nothing is active any more, and end after their number', async () => {
    const spec = specWith({ a: [], b: [], c: ['a', 'b'] }, { dag: { retries: 2 } });
    const { script, release } = holding('b', failing({ a: 2, b: 1 }));
    const run = await start(spec, script);
    await eventually(async () => (await rowOf(run, 'a')).state === 'up_for_retry');
    release();
    expect(await engine.ended(run)).toBe('success');
    expect(triesOf(run).toSorted()).toEqual(['a#1', 'a#2', 'a#3', 'b#1', 'b#2', 'c#1']);
    const hopeless = await start(specWith({ a: [], b: ['a'] }, { dag: { retries: 1 } }), failing({ a: 9 }));
    expect(await engine.ended(hopeless)).toBe('failed');
    expect(triesOf(hopeless)).toEqual(['a#1', 'a#2']);
  });

  it('begin once when the last end is reported twice, as after an answer that got lost', async () => {
    const spec = specWith({ a: [], b: [] }, { dag: { retries: 1 } });
    const run = await start(spec, ({ taskId, tryNumber }) => {
      if (tryNumber > 1) return { state: 'success' };
      return taskId === 'b' ? 'hang' : { state: 'failed' };
    });
    await eventually(async () => (await rowOf(run, 'a')).state === 'up_for_retry');
    await eventually(async () => (await rowOf(run, 'b')).state === 'running');
    const last = engine.seen.find((one) => one.run === run && one.taskId === 'b');
    if (!last) throw new Error('unreachable: b was dispatched');
    const report = () => engine.scheduler.attempts.finish(last, { state: 'failed' });
    const answers = await Promise.all([report(), report()]);
    expect(answers).toContain('recorded');
    expect(await engine.ended(run)).toBe('success');
    expect(triesOf(run).toSorted()).toEqual(['a#1', 'a#2', 'b#1', 'b#2']);
    expect(await rowOf(run, 'a')).toMatchObject({ try_number: 2, group_retries: 1 });
  });

  it('are given back by a clear, which also ends the wait for them', async () => {
    const spec = specWith({ a: [], b: [] }, { dag: { retries: 1 } });
    const { script, release } = holding('b', failing({ a: 1 }));
    const run = await start(spec, script);
    await eventually(async () => (await rowOf(run, 'a')).state === 'up_for_retry');
    await eventually(async () => (await rowOf(run, 'b')).state === 'running');
    await engine.clear(run);
    expect(await rowOf(run, 'a')).toMatchObject({ waits: null, group_retries: 0 });
    release();
    expect(await engine.ended(run)).toBe('success');
  });
});
