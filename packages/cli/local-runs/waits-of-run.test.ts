import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { expect, it } from 'vitest';
import { waitsOfRun } from './waits-of-run.ts';
import type { Attempt } from './waits-of-run.ts';

const at = (second: number): string => `2026-03-02T06:00:${String(second).padStart(2, '0')}.000000Z`;

function attempt(
  taskId: string,
  [scheduled, queued, ended]: [number, number, number | null],
  more: Partial<Attempt> = {},
) {
  return {
    dagId: 'sales',
    runId: 'r1',
    taskId,
    mapIndex: -1,
    tryNumber: 1,
    scheduledAt: at(scheduled),
    queuedAt: at(queued),
    endedAt: ended === null ? null : at(ended),
    pool: 'default_pool',
    slots: 1,
    ...more,
  };
}

const SPEC = makeSpec({ dagId: 'sales', tasks: [makeTask('load'), makeTask('send')] });
const limited = (max: number) => ({ ...SPEC, dag: { ...SPEC.dag, max_active_tasks: max } });
const pools = new Map([['narrow', 2]]);

it('a wait names the limit of the run for the time in which it was full, and the tries that held it', () => {
  const run = [attempt('load', [0, 0, 9]), attempt('send', [1, 9, 10])];
  expect(waitsOfRun(limited(1), { run, others: [], poolSlots: pools })).toEqual([
    {
      task_id: 'send',
      map_index: -1,
      try_number: 1,
      from: at(1),
      to: at(9),
      limits: [{ limit: 'max_active_tasks', size: 1, from: at(1), to: at(9), held_by: ['load'] }],
    },
  ]);
  expect(waitsOfRun(limited(2), { run, others: [], poolSlots: pools })).toMatchObject([{ limits: [] }]);
});

it('a pool is full by the slots of tries of other DAGs too, until one of them ends', () => {
  const narrow = { pool: 'narrow' };
  const run = [attempt('send', [1, 7, 8], narrow)];
  const others = [
    attempt('copy', [0, 0, 5], { ...narrow, dagId: 'other' }),
    attempt('move', [2, 3, null], { ...narrow, runId: 'r0' }),
    attempt('wide', [0, 0, 59], { pool: 'other' }),
  ];
  expect(waitsOfRun(limited(16), { run, others, poolSlots: pools })).toMatchObject([
    { limits: [{ limit: 'pool narrow', size: 2, from: at(3), to: at(5), held_by: ['copy of other', 'move of r0'] }] },
  ]);
});

it('a task that needs more slots than are free waits although the pool has a free slot', () => {
  const run = [
    attempt('load', [0, 0, 6], { pool: 'narrow' }),
    attempt('send', [1, 6, 8], { pool: 'narrow', slots: 2 }),
  ];
  expect(waitsOfRun(limited(16), { run, others: [], poolSlots: pools })).toMatchObject([
    { task_id: 'send', limits: [{ limit: 'pool narrow', from: at(1), to: at(6) }] },
  ]);
});

it('a limit over all runs counts the other runs, and a start without a wait is not named', () => {
  const [load, send] = SPEC.tasks;
  if (!load || !send) throw new Error('the spec has no tasks');
  const spec = { ...SPEC, tasks: [{ ...load, policy: { ...load.policy, max_active_tis_per_dag: 1 } }, send] };
  const run = [attempt('load', [1, 4, 8]), attempt('send', [1, 1, 8])];
  const others = [attempt('load', [0, 0, 4], { runId: 'r0' }), attempt('send', [0, 0, 9], { runId: 'r0' })];
  expect(waitsOfRun(spec, { run, others, poolSlots: pools })).toMatchObject([
    { task_id: 'load', limits: [{ limit: 'max_active_tis_per_dag', held_by: ['load of r0'] }] },
  ]);
});
