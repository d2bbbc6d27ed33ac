import { expect, it } from 'vitest';
import { judgeSkew } from './version-skew.ts';

it.each([
  ['0.7.0', '0.7.3', 'keep'],
  ['0.7.0', '0.6.9', 'keep'],
  ['0.7.0', '0.8.0', 'keep'],
  ['0.7.0-rc.1', '0.7.0', 'keep'],
  ['0.7.0', '0.9.0', 'drain'],
  ['0.7.0', '1.0.0', 'drain'],
  ['0.7.0', '0.5.9', 'refuse'],
  ['1.0.0', '0.9.0', 'refuse'],
  ['0.7.0', '', 'refuse'],
  ['0.7.0', 'nonsense', 'refuse'],
] as const)('a control plane %s has a worker %s: %s', (own, worker, verdict) => {
  expect(judgeSkew(own, worker)).toBe(verdict);
});
