import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecord, textLines } from './records.ts';

const line = (text: string) => ({ text, cutBytes: 0 });
const recordOf = (text: string) => readRecord(line(text));
const textOf = (value: object) => textLines(readRecord(line(JSON.stringify(value)))?.record ?? { event: 'none' });

describe('a stored line', () => {
  it('is passed on as it was stored when nothing is wrong with it, digits included', () => {
    const stored =
      '{"timestamp":"2026-11-15T06:31:12.123456Z","level":"info","logger":"task","event":"x","n":12345678901234567890.10}';
    expect(recordOf(stored)?.json).toBe(stored);
  });

  it.each([
    ['no event', '{"level":"info"}', { level: 'info', event: '' }],
    ['an event that is no text', '{"event":{"a":1}}', { event: '{"a":1}' }],
    ['a null logger, which stops the web UI', '{"event":"x","logger":null}', { event: 'x' }],
    ['a null error_detail, which does too', '{"event":"x","error_detail":null}', { event: 'x' }],
    ['an error_detail without frames', '{"event":"x","error_detail":[{"exc_type":"E"}]}', { event: 'x' }],
    ['a timestamp that is none', '{"event":"x","timestamp":"yesterday"}', { event: 'x' }],
    ['a date that does not exist', '{"event":"x","timestamp":"2026-13-40T00:00:00Z"}', { event: 'x' }],
    ['a level that is a number', '{"event":"x","level":20}', { event: 'x' }],
    ['half a record', '{"event":"x', { timestamp: null, event: '{"event":"x' }],
    ['a list', '[1]', { timestamp: null, event: '[1]' }],
    ['text', 'Segmentation fault', { timestamp: null, event: 'Segmentation fault' }],
  ])('with %s becomes one that can be shown', (_what, stored, shown) => {
    const read = recordOf(stored);
    expect(read?.record).toEqual(shown);
    expect(JSON.parse(read?.json ?? '')).toEqual(shown);
  });

  it('that was too long is shown in part, and says so', () => {
    const read = readRecord({ text: `{"event":"${'x'.repeat(50_000)}`, cutBytes: 7 });
    expect(read?.record.event).toMatch(/^\{"event":"x+… \(a line of 50017 bytes, cut\)$/);
    expect(read?.record.event.length).toBeLessThan(11_000);
  });

  it('is nothing when it is blank', () => {
    expect([recordOf(''), recordOf('  \r')]).toEqual([undefined, undefined]);
  });

  it('always gives one line of JSON with an event, whatever was stored', () => {
    const anyLine = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.json().map((json) => `{"event":${json}}`),
    );
    fc.assert(
      fc.property(anyLine, (text) => {
        const read = recordOf(text.replaceAll('\n', ' '));
        if (!read) return;
        expect(read.json).not.toContain('\n');
        expect(JSON.parse(read.json)).toMatchObject({ event: expect.any(String) as string });
        expect(textLines(read.record).length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('the readable form of a log record', () => {
  it('has time, level and message, and the other fields of the record', () => {
    expect(
      textOf({
        timestamp: '2026-11-15T06:31:12.123456Z',
        level: 'warning',
        logger: 'task',
        event: 'low on space',
        free: 12,
        disk: 'a\nb',
        dag_id: 'not repeated',
      }),
    ).toEqual([String.raw`[2026-11-15T06:31:12.123456Z] WARNING - low on space free=12 disk=a\nb`]);
    expect(textOf({ event: 'only this' })).toEqual(['only this']);
  });

  it('has as many lines as the message', () => {
    expect(textOf({ level: 'info', event: 'one\r\ntwo\n\nthree\n' })).toEqual(['INFO - one', 'two', '', 'three']);
  });

  it('shows a traceback once', () => {
    const frames = [{ filename: '/dags/etl.py', lineno: 3, name: 'load' }];
    const detail = { error_detail: [{ exc_type: 'ValueError', exc_value: 'boom', frames }] };
    expect(textOf({ level: 'error', event: 'Task failed', ...detail })).toEqual([
      'ERROR - Task failed',
      'Traceback (most recent call last):',
      '  File "/dags/etl.py", line 3, in load',
      'ValueError: boom',
    ]);
    const said = 'Task failed\nTraceback (most recent call last):\nValueError: boom';
    expect(textOf({ event: said, ...detail })).toHaveLength(3);
    // The web UI draws the detail below the text, which says the same.
    expect(JSON.parse(recordOf(JSON.stringify({ event: said, ...detail }))?.json ?? '')).toEqual({ event: said });
    const short = { event: 'Task failed', ...detail };
    expect(JSON.parse(recordOf(JSON.stringify(short))?.json ?? '')).toEqual(short);
  });
});
