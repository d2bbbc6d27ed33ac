import { describe, expect, it } from 'vitest';
import { compareExample, goldenKey, isSettled, readGolden } from './example-states.ts';
import type { RunEnd } from './example-states.ts';

const name = 'apache-airflow-core==3.2.2';
const TUESDAY = new Date('2026-11-17T10:00:00Z');
const compare = (dag: string, there: RunEnd | undefined, here: RunEnd | undefined) =>
  compareExample({ package: name, dag, golden: { [name]: there ? { [dag]: there } : {} }, here, now: TUESDAY });

describe('the ends of an example DAG', () => {
  it('are the same when the run and every task are', () => {
    const end: RunEnd = { state: 'success', instances: { a: 'success', b: 'skipped' } };
    expect(compare('tutorial', end, end)).toMatchObject({ result: 'same', tasks: 2 });
    const other: RunEnd = { state: 'failed', instances: { a: 'failed', c: null } };
    expect(compare('tutorial', end, other)).toMatchObject({
      result: 'differs',
      differences: [
        { task: 'a', airflow: 'success', here: 'failed' },
        { task: 'b', airflow: 'skipped', here: 'absent' },
        { task: 'c', airflow: 'absent', here: 'none' },
        { task: '', airflow: 'success', here: 'failed' },
      ],
    });
    expect(compare('tutorial', end, undefined)).toMatchObject({ result: 'differs' });
    expect(compare('tutorial', undefined, end)).toMatchObject({ result: 'not recorded' });
    expect(compare('tutorial_objectstorage', end, end)).toMatchObject({ result: 'needs an outside service' });
  });

  it('may take another way by chance, but one way only', () => {
    const took = (...ways: string[]): RunEnd => ({
      state: 'success',
      instances: Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((way) => [`branch_${way}`, ways.includes(way) ? 'success' : 'skipped']),
      ),
    });
    expect(compare('example_branch_operator', took('a'), took('c'))).toMatchObject({ result: 'same' });
    expect(compare('example_branch_operator', took('a'), took('a', 'c'))).toMatchObject({ result: 'differs' });
    expect(compare('tutorial', took('a'), took('c'))).toMatchObject({ result: 'differs' });
  });

  it('are those of the moment where tasks look at the clock', () => {
    const keys = ['2026-11-15T10:00Z', '2026-11-16T10:00Z', '2026-11-17T16:00Z', '2026-11-21T10:00Z'].flatMap((time) =>
      ['example_weekday_branch_operator', 'example_branch_datetime_operator_2', 'tutorial'].map((dag) =>
        goldenKey(dag, new Date(time)),
      ),
    );
    expect([...new Set(keys)].toSorted()).toEqual([
      'example_branch_datetime_operator_2@after 15:00',
      'example_branch_datetime_operator_2@before 15:00',
      'example_weekday_branch_operator@midweek',
      'example_weekday_branch_operator@monday',
      'example_weekday_branch_operator@weekend',
      'tutorial',
    ]);
    // Airflow was asked at each of them.
    expect(keys.filter((key) => readGolden()[name]?.[key] === undefined)).toEqual([]);
  });

  it('are read when nothing but what waits for an hour is left', () => {
    const waiting = 'timeout_after_second_date_in_the_future_async';
    const run = (other: string): RunEnd => ({ state: 'running', instances: { [waiting]: 'deferred', other } });
    expect(isSettled('example_sensors', run('success'))).toBe(true);
    expect(isSettled('example_sensors', run('running'))).toBe(false);
    expect(isSettled('tutorial', run('success'))).toBe(false);
    expect(isSettled('tutorial', { state: 'failed', instances: {} })).toBe(true);
    expect(isSettled('example_sensors', { state: 'queued', instances: {} })).toBe(false);
  });
});
