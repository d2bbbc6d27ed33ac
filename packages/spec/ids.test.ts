import { describe, expect, it } from 'vitest';
import { isDagId, isGroupId, isProjectDagId, isRunId, isTaskId } from './ids.ts';
import { TRIGGER_RULE_NAMES, isTriggerRule } from './trigger-rules.ts';

describe('ids', () => {
  it('of projects are those that can become an image name', () => {
    for (const id of ['a', '_x', 'A-1_b', 'x'.repeat(200)]) expect(isProjectDagId(id)).toBe(true);
    for (const id of ['', '-a', 'a.b', 'a b', 'ä', 'x'.repeat(201), 'a\n']) expect(isProjectDagId(id)).toBe(false);
  });

  it('of DAGs and tasks are what Airflow takes, any script included', () => {
    for (const id of ['a.b-c_d', 'größe', '日本', '-x', 'x'.repeat(250)]) {
      expect(isDagId(id)).toBe(true);
      expect(isTaskId(id)).toBe(true);
    }
    for (const id of ['', 'a b', 'a/b', 'a\n', '../x', 'x'.repeat(251), 'a$']) expect(isTaskId(id)).toBe(false);
  });

  it('of groups have a dot only between their parts', () => {
    expect(isGroupId('outer.inner')).toBe(true);
    for (const id of ['', '.', 'a..b', 'a.', 'a b']) expect(isGroupId(id)).toBe(false);
  });

  it('of runs take an ISO timestamp and no path', () => {
    expect(isRunId('manual__2026-01-01T10:00:00.123456+00:00')).toBe(true);
    for (const id of ['', 'a/b', 'a b', 'a?b', 'x'.repeat(251)]) expect(isRunId(id)).toBe(false);
  });
});

describe('trigger rules', () => {
  it('are a closed list: inherited names of objects are not rules', () => {
    expect(TRIGGER_RULE_NAMES).toHaveLength(13);
    expect(isTriggerRule('all_success')).toBe(true);
    for (const word of ['dummy', 'toString', 'constructor', '']) expect(isTriggerRule(word)).toBe(false);
  });
});
