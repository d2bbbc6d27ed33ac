import { describe, expect, it } from 'vitest';
import { createPlainProgress } from './plain-lines.ts';
import { finished, instanceOf, snapshotOf } from '@svc/testing/cli/instances.ts';

const upstream = 'waits for upstream tasks (0 of 1 are finished)';

describe('progress in lines', () => {
  it('says each event once, and nothing about time that passes', () => {
    const progress = createPlainProgress();
    const running = [
      instanceOf('extract', { state: 'running', started: 0 }),
      instanceOf('load', { wait_reason: upstream }),
    ];
    expect(progress.lines(snapshotOf(running, { seconds: 1 }))).toEqual([
      'run r1 of DAG etl: running',
      'extract: running',
    ]);
    expect(progress.lines(snapshotOf(running, { seconds: 2 }))).toEqual([]);
    const next = [finished('extract', 0, 2), instanceOf('load', { state: 'queued' })];
    expect(progress.lines(snapshotOf(next, { seconds: 3 }))).toEqual(['extract: success  2.0 s']);
    expect(progress.lines(snapshotOf(next, { seconds: 4 }))).toEqual([]);
  });

  it('tells of a task that waits again after it has failed', () => {
    const progress = createPlainProgress();
    const at = (fields: Parameters<typeof instanceOf>[1]) =>
      snapshotOf([instanceOf('load', { max_tries: 1, ...fields })]);
    progress.lines(at({ state: 'running', started: 0 }));
    expect(progress.lines(at({ state: 'up_for_retry', started: 0, failure_reason: 'exit code 1' }))).toEqual([
      'load: up_for_retry  try 1/2  exit code 1',
    ]);
    expect(progress.lines(at({ state: 'running', started: 9, try_number: 2 }))).toEqual(['load: running  try 2/2']);
  });

  it('when nothing happens for long, says what holds the run up and not what merely comes later', () => {
    const progress = createPlainProgress();
    const stuck = [
      instanceOf('after', { wait_reason: upstream }),
      instanceOf('load', { state: 'scheduled', wait_reason: 'its pool has no free slots' }),
    ];
    progress.lines(snapshotOf(stuck, { seconds: 0 }));
    expect(progress.lines(snapshotOf(stuck, { seconds: 29 }))).toEqual([]);
    expect(progress.lines(snapshotOf(stuck, { seconds: 30 }))).toEqual([
      '0 of 2 finished, 2 waiting; load: its pool has no free slots',
    ]);
    expect(progress.lines(snapshotOf(stuck, { seconds: 31 }))).toEqual([]);
  });
});
