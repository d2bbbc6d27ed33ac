import { describe, expect, it } from 'vitest';
import type { MappingSpec } from '@svc/spec/schema-parts.ts';
import { lengthSources, literalLength, mappingLength } from './mapped-length.ts';

const xcom = (taskId: string, key = 'return_value') => ({ __type: 'xcom', task_id: taskId, key });
const kwargs = (value: unknown, length: number | null = null): MappingSpec => ({
  kind: 'expand_kwargs',
  target: 'function',
  value,
  length,
  depends_on: [],
});
const expand = (...values: readonly { value: unknown; length: number | null }[]): MappingSpec => ({
  kind: 'expand',
  target: 'function',
  arguments: values.map((one, index) => ({ name: `x${index}`, ...one })),
  depends_on: [],
});

const LENGTHS: Record<string, number> = { two: 2, three: 3, none: 0 };
const lengthOf = (mapping: MappingSpec) =>
  mappingLength(mapping, ({ taskId }) => {
    const length = LENGTHS[taskId];
    if (taskId === 'unloaded') return undefined;
    return length === undefined ? { kind: 'unusable', reason: `no value of ${taskId}` } : { kind: 'known', length };
  });
const known = (length: number) => ({ kind: 'known', length });
const [two, three, none] = [xcom('two'), xcom('three'), xcom('none')];

describe('how many instances a mapping makes', () => {
  it.each([
    ['a list', kwargs([{}, {}], 2), 2],
    ['a task’s value', kwargs(two), 2],
    ['map', kwargs({ __type: 'xcom_map', source: two, callables: [] }), 2],
    ['zip: the shortest', kwargs({ __type: 'xcom_zip', sources: [two, three] }), 2],
    ['zip with a fill value: the longest', kwargs({ __type: 'xcom_zip', sources: [two, three], fillvalue: null }), 3],
    ['concat: the sum', kwargs({ __type: 'xcom_concat', sources: [two, three] }), 5],
    [
      'map over concat over zip',
      kwargs({
        __type: 'xcom_map',
        source: { __type: 'xcom_concat', sources: [{ __type: 'xcom_zip', sources: [two, three] }, three] },
      }),
      5,
    ],
    [
      'several arguments: the cross product',
      expand({ value: two, length: null }, { value: [1, 2, 3, 4], length: 4 }, { value: three, length: null }),
      24,
    ],
    ['nothing times something', expand({ value: none, length: null }, { value: three, length: null }), 0],
  ])('%s', (_, mapping, length) => {
    expect(lengthOf(mapping)).toEqual(known(length));
  });

  it('is unknown while a value is not loaded', () => {
    expect(lengthOf(expand({ value: two, length: null }, { value: xcom('unloaded'), length: null }))).toBeUndefined();
  });

  it('is unusable when a value is missing, even if another is not loaded', () => {
    expect(lengthOf(kwargs({ __type: 'xcom_concat', sources: [xcom('unloaded'), xcom('lost')] }))).toEqual({
      kind: 'unusable',
      reason: 'no value of lost',
    });
  });

  it('is unusable for a value that is no list and no reference', () => {
    expect(lengthOf(kwargs({ __type: 'mapped_argument', name: 'x' }))).toMatchObject({
      kind: 'unusable',
      reason: expect.stringContaining('mapped_argument'),
    });
  });

  it('is known beforehand for literals only', () => {
    expect(literalLength(expand({ value: [1, 2], length: 2 }, { value: [1, 2, 3], length: 3 }))).toBe(6);
    expect(literalLength(expand({ value: [], length: 0 }, { value: two, length: null }))).toBeNull();
    expect(literalLength(kwargs([two, {}], 2))).toBe(2);
  });

  it('depends on the tasks it is expanded over, not on those that are merely items of a list', () => {
    expect(lengthSources(expand({ value: [two, 1], length: 2 }, { value: three, length: null }))).toEqual(['three']);
    expect(lengthSources(kwargs([two, {}], 2))).toEqual([]);
    const lazy = { __type: 'xcom_map', source: { __type: 'xcom_zip', sources: [two, three, two] } };
    expect(lengthSources(kwargs(lazy))).toEqual(['two', 'three']);
  });
});
