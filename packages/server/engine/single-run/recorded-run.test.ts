import { sketchSpec } from '@svc/testing/plan/random-dag.ts';
import type { DagSketch } from '@svc/testing/plan/random-dag.ts';
import { describe, expect, it } from 'vitest';
import { planAgain } from './recorded-run.ts';
import type { RecordedEnd } from './recorded-run.ts';

const START = '2026-03-02T06:00:00.000000Z';
const at = (second: number): string => `2026-03-02T06:00:${String(second).padStart(2, '0')}.000000Z`;

const end = (taskId: string, second: number, other: Partial<RecordedEnd> = {}): RecordedEnd => ({
  taskId,
  mapIndex: -1,
  tryNumber: 1,
  startedAt: at(Math.max(0, second - 1)),
  at: at(second),
  state: 'success',
  failure: null,
  isRetryable: true,
  isLoss: false,
  skips: [],
  pushed: [],
  ...other,
});

function plan(sketch: DagSketch, ends: readonly RecordedEnd[], endedAt: string | null = at(59)) {
  const { decisions, runState, states } = planAgain({
    spec: sketchSpec(sketch),
    run: {
      run_id: 'r1',
      run_type: 'manual',
      logical_date: START,
      data_interval_start: START,
      data_interval_end: START,
      run_after: START,
      conf: {},
    },
    startedAt: START,
    endedAt,
    ends,
  });
  const told = decisions.flatMap(({ event, decided }) =>
    decided.map(({ taskId, mapIndex, state, why }) =>
      [event?.taskId ?? 'start', `${taskId}${mapIndex < 0 ? '' : `[${mapIndex}]`}`, state, why].join(' | '),
    ),
  );
  return { told, decisions, runState, states: Object.fromEntries(states.map((one) => [one.taskId, one.state])) };
}

const CHAIN: DagSketch = { tasks: [{ id: 'a' }, { id: 'b', upstream: ['a'] }, { id: 'c', upstream: ['b'] }] };

describe('a run that is planned again', () => {
  it('names the end and the rule that started or stopped each task', () => {
    const failure = { reason: 'exception: the task raised an exception', detail: 'KeyError: 1' };
    const { told, runState } = plan(CHAIN, [end('a', 1), end('b', 2, { state: 'failed', failure })]);
    expect(told).toEqual([
      'start | a | scheduled | no task is before it',
      'a | b | scheduled | trigger rule all_success: every upstream task succeeded',
      'b | c | upstream_failed | b is failed (trigger rule all_success: every upstream task succeeded)',
    ]);
    expect(runState).toBe('failed');
  });

  it('names the branch that chose to skip a task, and the skip that stopped the task after it', () => {
    const { told, runState } = plan(CHAIN, [end('a', 1, { skips: ['b'] })]);
    expect(told.slice(1)).toEqual([
      'a | b | skipped | a chose to skip it',
      'a | c | skipped | b is skipped (trigger rule all_success: every upstream task succeeded)',
    ]);
    expect(runState).toBe('success');
  });

  it('lets a failed try wait for its retry, whose start follows the recording', () => {
    const sketch: DagSketch = { tasks: [{ id: 'a' }, { id: 'b', upstream: ['a'] }] };
    const spec = sketchSpec(sketch);
    const policy = spec.tasks[0]?.policy;
    if (!policy) throw new Error('the sketch has no task');
    const retried = { ...spec, tasks: spec.tasks.map((task) => ({ ...task, policy: { ...policy, retries: 1 } })) };
    const { decisions, runState } = planAgain({
      spec: retried,
      run: {
        run_id: 'r1',
        run_type: 'manual',
        logical_date: null,
        data_interval_start: null,
        data_interval_end: null,
        run_after: START,
        conf: {},
      },
      startedAt: START,
      endedAt: at(9),
      ends: [end('a', 1, { state: 'failed' }), end('a', 5, { tryNumber: 2 }), end('b', 9)],
    });
    expect(decisions[1]?.decided).toMatchObject([{ taskId: 'a', state: 'up_for_retry' }]);
    expect(decisions.map(({ isExpected }) => isExpected)).toEqual([true, true, true, true]);
    expect(runState).toBe('success');
  });

  it('marks an end that the rules do not explain, and changes nothing by it', () => {
    const { decisions, states } = plan(CHAIN, [end('b', 1), end('a', 2)], null);
    expect(decisions.map(({ event, isExpected }) => [event?.taskId, isExpected])).toEqual([
      [undefined, true],
      ['b', false],
      ['a', true],
    ]);
    expect(states).toEqual({ a: 'success', b: 'scheduled', c: null });
  });
});
