import { describe, expect, it } from 'vitest';
import {
  downstreamJoinId,
  hasInvisible,
  isDagId,
  isGroupId,
  isProjectDagId,
  isRunId,
  isTaskId,
  isUuid,
  upstreamJoinId,
} from './ids.ts';
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

  it('are none that a path cannot lead to', () => {
    for (const id of ['.', '..']) {
      for (const isId of [isDagId, isTaskId, isRunId, isGroupId]) expect(isId(id)).toBe(false);
    }
    expect(isDagId('...')).toBe(true);
  });

  it.each([
    0x61c, 0xad, 0x34f, 0x200b, 0x200c, 0x200d, 0x200e, 0x202e, 0x2060, 0x2066, 0x3164, 0xfe0f, 0xfeff, 0xe0101,
  ])('hold nothing that nobody sees: U+%s', (point) => {
    const id = `load${String.fromCodePoint(point)}er`;
    expect(hasInvisible(id)).toBe(true);
    for (const isId of [isDagId, isTaskId, isRunId, isGroupId]) expect(isId(id)).toBe(false);
  });

  it('may have accents and letters of every script', () => {
    for (const id of ['größe', 'o\u0308', 'नमस्ते', 'سلام', '한국어', '日本']) expect(isDagId(id)).toBe(true);
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

describe('a UUID', () => {
  it('has one form, although Postgres reads more', () => {
    const uuid = '018f3a2b-0000-7000-8000-0123456789ab';
    for (const text of [uuid, uuid.toUpperCase()]) expect(isUuid(text)).toBe(true);
    for (const text of [`{${uuid}}`, uuid.replaceAll('-', ''), `${uuid}\n`, '', 5, null, [uuid]])
      expect(isUuid(text)).toBe(false);
  });
});

it('the join points of a group are named as the graph view of Airflow names them', () => {
  expect(upstreamJoinId('a.b')).toBe('a.b.upstream_join_id');
  expect(downstreamJoinId('a.b')).toBe('a.b.downstream_join_id');
});

describe('trigger rules', () => {
  it('are a closed list: inherited names of objects are not rules', () => {
    expect(TRIGGER_RULE_NAMES).toHaveLength(13);
    expect(isTriggerRule('all_success')).toBe(true);
    for (const word of ['dummy', 'toString', 'constructor', '']) expect(isTriggerRule(word)).toBe(false);
  });
});
