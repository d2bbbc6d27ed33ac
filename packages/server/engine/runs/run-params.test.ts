import { describe, expect, it } from 'vitest';
import type { ParamSpec } from '@svc/spec/schema-parts.ts';
import { mergeParams, paramProblems } from './run-params.ts';

const param = (name: string, schema: object, rest: Partial<ParamSpec> = {}): ParamSpec => ({
  name,
  schema: schema as Record<string, unknown>,
  description: null,
  source: 'dag',
  has_default: true,
  default: null,
  ...rest,
});

const count = param('count', { type: 'integer', minimum: 1 }, { default: 3 });
const needed = param('needed', { type: 'string' }, { has_default: false });

describe('the params of a run', () => {
  it('are its conf over the defaults, with what no param names', () => {
    expect(mergeParams([count], { other: true })).toEqual({ count: 3, other: true });
    expect(mergeParams([count], { count: 5 })).toEqual({ count: 5 });
  });

  it('are refused by name when a value does not fit its schema', () => {
    expect(paramProblems([count], { count: 0 })).toEqual([expect.stringMatching(/^conf\.count: must be >= 1/)]);
    expect(paramProblems([count], { count: 'many' })).toEqual([expect.stringMatching(/^conf\.count: must be integer/)]);
    expect(paramProblems([count], {})).toEqual([]);
  });

  it('are refused with the values there are to choose from', () => {
    const mode = param('mode', { type: 'string', enum: ['fast', 'safe'] }, { default: 'safe' });
    expect(paramProblems([mode], { mode: 'slow' })).toEqual(['conf.mode: must be one of "fast", "safe"']);
    expect(paramProblems([mode], { mode: 1 })).toEqual(['conf.mode: must be one of "fast", "safe"']);
    const modes = param('modes', { type: 'array', items: { enum: [1, null] } }, { default: [] });
    expect(paramProblems([modes], { modes: [1, 2] })).toEqual(['conf.modes/1: must be one of 1, null']);
    const maybe = param('maybe', { anyOf: [{ type: 'null' }, { enum: ['a', 'b'] }] });
    expect(paramProblems([maybe], { maybe: 'c' })).toEqual(['conf.maybe: must be one of "a", "b"']);
    const fixed = param('fixed', { const: 'x' }, { default: 'x' });
    expect(paramProblems([fixed], { fixed: 'y' })).toEqual(['conf.fixed: must be "x"']);
    const many = param('many', { enum: Array.from({ length: 1_000 }, (_, n) => n) }, { default: 1 });
    expect(paramProblems([many], { many: -1 })[0]).toMatch(/ 49 and 950 more$/);
  });

  it('need a value where the DAG has no default', () => {
    expect(paramProblems([needed], {})).toEqual([expect.stringContaining('conf.needed')]);
    expect(paramProblems([needed], { needed: 'x' })).toEqual([]);
  });

  it('take a time, and a date with one, with or without an offset', () => {
    const time = param('at', { type: ['string', 'null'], format: 'time' }, { default: '12:13:14' });
    for (const at of ['12:13:14', '23:59:59+02:00', null]) expect(paramProblems([time], { at })).toEqual([]);
    expect(paramProblems([time], {})).toEqual([]);
    expect(paramProblems([time], { at: '25:00:00' })).toEqual([expect.stringContaining('conf.at')]);
    const since = param('since', { type: 'string', format: 'date-time' }, { default: '2024-01-01T00:00:00' });
    for (const value of ['2024-01-01T00:00:00', '2024-01-01T00:00:00Z', '2024-01-01'])
      expect(paramProblems([since], { since: value })).toEqual([]);
    expect(paramProblems([since], { since: 'noon' })).toEqual([expect.stringContaining('conf.since')]);
  });

  it('are not refused by a schema that nobody can read', () => {
    expect(paramProblems([param('odd', { type: 'no such type' }, { default: 1 })], {})).toEqual([]);
  });
});
