import { expect, it } from 'vitest';
import { compareOutcomes } from './compare.ts';
import type { Facts, Happened } from './outcome.ts';

const AIRFLOW: Facts = {
  'run state': 'success',
  'a upstream': '',
  'b upstream': '',
  'c upstream': 'a b',
  'c state': 'success',
  'c tries': '1',
  'c xcom return_value': '1',
};

const here = ({ value, state }: { value: string; state: string }, early: string[]): Happened => ({
  run: 'RUN',
  state: 'success',
  upstream: { a: [], b: [], c: ['a', 'b'] },
  early,
  instances: { c: { state, tries: 1, start: null, end: null, label: null } },
  xcoms: [['c', 'return_value', value]],
  rendered: {},
  events: [],
  notes: [],
});

const unexplained = (outcome: Happened): string[] =>
  compareOutcomes(AIRFLOW, outcome).flatMap(({ where, why }) => (why === undefined ? [where] : []));

it('the order of ends explains another value of a task that may begin early, but never another state', () => {
  expect(unexplained(here({ value: '2', state: 'success' }, ['c']))).toEqual([]);
  expect(unexplained(here({ value: '2', state: 'success' }, []))).toEqual(['c xcom return_value']);
  expect(unexplained(here({ value: '1', state: 'skipped' }, ['c']))).toEqual(['c state']);
});
