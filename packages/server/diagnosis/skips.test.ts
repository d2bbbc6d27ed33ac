import { expect, it } from 'vitest';
import { skipsOf } from './skips.ts';
import type { SkipTask } from './skips.ts';

function graphOf(upstream: Record<string, readonly string[]>, deciders: readonly string[] = []): SkipTask[] {
  const ids = Object.keys(upstream);
  return ids.map((id) => ({
    task_id: id,
    upstream_task_ids: upstream[id] ?? [],
    downstream_task_ids: ids.filter((other) => upstream[other]?.includes(id)),
    is_setup: false,
    policy: { trigger_rule: 'all_success' },
    skipsDownstream: deciders.includes(id),
  }));
}
const skipped = (...ids: string[]) => ids.map((id) => ({ task_id: id, map_index: -1, try_number: 0 }));
const why = (tasks: SkipTask[], of: ReturnType<typeof skipped>) =>
  Object.fromEntries(skipsOf(tasks, of).map((skip) => [skip.task_id, skip.why]));

it('a branch chose others, and what comes after those it did not choose is skipped because of them', () => {
  const tasks = graphOf({ branch: [], left: ['branch'], right: ['branch'], end: ['right'] }, ['branch']);
  expect(why(tasks, skipped('right', 'end'))).toEqual({
    right: 'the branch branch chose left, not this one',
    end: 'right before it was skipped (trigger rule all_success)',
  });
});

it('a short circuit stops everything after it, and one that was skipped itself decides nothing', () => {
  const tasks = graphOf({ a: [], check: ['a'], next: ['check'] }, ['check']);
  expect(why(tasks, skipped('next'))).toEqual({ next: 'check decided that nothing after it runs' });
  expect(why(tasks, skipped('check', 'next'))['next']).toBe('check before it was skipped (trigger rule all_success)');
});

it('a task that ran has skipped itself; of others no more is said than is known', () => {
  const tasks = graphOf({ a: [], b: ['a'] });
  expect(why(tasks, [{ task_id: 'b', map_index: -1, try_number: 1 }])['b']).toContain('skipped itself');
  expect(why(tasks, skipped('b'))['b']).toBe('its trigger rule all_success was not met, or it was marked as skipped');
  expect(why([], skipped('b'))['b']).toBe('the version it belongs to is not known');
});
