import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { widthOf } from '../output/text.ts';
import { durationText } from './fields.ts';
import { frameOf } from './frame.ts';
import { finished, instanceOf, snapshotOf } from '@svc/testing/cli/instances.ts';

const SIZE = { columns: 100, rows: 24 };
const textsOf = (...input: Parameters<typeof frameOf>): string[] => frameOf(...input).map(({ text }) => text);

describe('the picture of a run', () => {
  it('shows every task with what there is to know about it', () => {
    const instances = [
      finished('extract', 0, 1.25),
      instanceOf('load', { state: 'running', started: 2, try_number: 2, max_tries: 2 }),
      instanceOf('report', { wait_reason: 'waits for upstream tasks (0 of 1 are finished)' }),
      finished('check', 1, 0.5, { state: 'failed', failure_reason: 'exit code 3' }),
    ];
    expect(textsOf(snapshotOf(instances, { seconds: 14 }), SIZE)).toEqual([
      'etl  r1  running  14 s',
      `${'█'.repeat(20)}${'░'.repeat(20)}  2 of 4 finished, 1 failed, 1 running, 1 waiting`,
      '✔ extract  success  1.3 s',
      '✖ check    failed  0.5 s  exit code 3',
      '▶ load     running  try 2/3  12 s',
      '· report   waiting  waits for upstream tasks (0 of 1 are finished)',
    ]);
  });

  it('keeps a mapped task on one line, however many instances it has', () => {
    const instances = Array.from({ length: 1_000 }, (_, index) =>
      index < 700
        ? finished('each', 0, 1, { map_index: index })
        : index < 703
          ? finished('each', 0, 1, { map_index: index, state: 'failed', failure_reason: 'exit code 1' })
          : instanceOf('each', { map_index: index, state: index < 710 ? 'running' : null }),
    );
    const [, , line, ...rest] = textsOf(snapshotOf(instances), SIZE);
    expect(rest).toEqual([]);
    expect(line).toBe('✖ each  703 of 1000 finished  3 failed  7 running  exit code 1');
  });

  it('on a small screen keeps what failed and what runs, and says how much is missing', () => {
    const instances = [
      ...Array.from({ length: 50 }, (_, index) => finished(`done${index}`, index, 1)),
      finished('bad', 60, 1, { state: 'failed' }),
      instanceOf('busy', { state: 'running', started: 61 }),
    ];
    const lines = textsOf(snapshotOf(instances, { seconds: 62 }), { columns: 80, rows: 8 });
    expect(lines.length).toBeLessThan(8);
    expect(lines.join('\n')).toMatch(/✖ bad[\s\S]*▶ busy/);
    expect(lines.at(-1)).toBe('  and 48 more tasks');
  });

  it('never draws more than fits, whatever is in it', () => {
    const name = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
    const state = fc.constantFrom('running', 'failed', 'up_for_retry', 'success', null);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, state, name), { maxLength: 60 }),
        fc.integer({ min: 4, max: 200 }),
        fc.integer({ min: 7, max: 50 }),
        fc.option(fc.constant('the control plane is away'), { nil: undefined }),
        (tasks, columns, rows, trouble) => {
          const instances = tasks.map(([id, state, reason]) => instanceOf(id, { state, failure_reason: reason }));
          const lines = textsOf(snapshotOf(instances), { columns, rows }, trouble);
          expect(lines.length).toBeLessThan(rows);
          for (const line of lines) {
            expect(widthOf(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          }
        },
      ),
    );
  });

  it('says why a run has not started', () => {
    const run = { state: 'queued', start_date: null } as const;
    expect(textsOf(snapshotOf([], { run, waitReason: 'the DAG is paused' }), SIZE)).toEqual([
      'etl  r1  queued',
      expect.stringMatching(/^░+  0 of 0 finished$/),
      '· the DAG is paused',
    ]);
  });

  it('shows a run without tasks as done only when it is', () => {
    const bar = (run: object): string | undefined => textsOf(snapshotOf([], { run }), { columns: 12, rows: 9 })[1];
    expect(bar({ state: 'queued', start_date: null })).toMatch(/^░+/);
    expect(bar({ state: 'success', end_date: '2026-01-31T06:00:01Z', duration: 1 })).toMatch(/^█+/);
  });
});

describe('durations', () => {
  it.each([
    [0, '0.0 s'],
    [9.94, '9.9 s'],
    [9.96, '10 s'],
    [59.4, '59 s'],
    [59.7, '1 min 0 s'],
    [119.7, '2 min 0 s'],
    [3_599.8, '1 h 0 min'],
    [90_061, '25 h 1 min'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});
