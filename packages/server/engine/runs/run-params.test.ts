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

  it('need a value where the DAG has no default', () => {
    expect(paramProblems([needed], {})).toEqual([expect.stringContaining('conf.needed')]);
    expect(paramProblems([needed], { needed: 'x' })).toEqual([]);
  });

  it('are not refused by a schema that nobody can read', () => {
    expect(paramProblems([param('odd', { type: 'no such type' }, { default: 1 })], {})).toEqual([]);
  });
});
