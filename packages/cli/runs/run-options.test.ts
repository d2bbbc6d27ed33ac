import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '../context.ts';
import { confOf, parseLastMoment, parseMoment, parseParam } from './run-options.ts';

const context = (input = ''): CliContext => ({ stdin: Readable.from([input]) }) as unknown as CliContext;

describe('the conf of a run', () => {
  it('takes values as JSON where they are, and as text where they are not', () => {
    expect(parseParam('n=3')).toEqual(['n', 3]);
    expect(parseParam('day=monday')).toEqual(['day', 'monday']);
    expect(parseParam('zip=01234')).toEqual(['zip', '01234']);
    expect(parseParam('text="3"')).toEqual(['text', '3']);
    expect(parseParam('query=a=b')).toEqual(['query', 'a=b']);
    expect(parseParam('empty=')).toEqual(['empty', '']);
    expect(() => parseParam('=3')).toThrow('--param');
    expect(() => parseParam('n')).toThrow('--param');
  });

  it('hands every JSON value through unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseParam(`x=${JSON.stringify(value)}`)).toEqual(['x', JSON.parse(JSON.stringify(value))]);
      }),
    );
  });

  it('lets --param win over --conf, and reads the conf from standard input', async () => {
    expect(await confOf(context(), { conf: '{"a": 1, "b": 2}', param: ['b=3'] })).toEqual({ a: 1, b: 3 });
    expect(await confOf(context('{"a": 1}\n'), { conf: '-', param: [] })).toEqual({ a: 1 });
    expect(await confOf(context(), { param: [] })).toEqual({});
  });

  it('cannot be given a prototype', async () => {
    const conf = await confOf(context(), { param: ['__proto__={"a": 1}'] });
    expect(Object.getPrototypeOf(conf)).toBe(Object.prototype);
    expect(Object.keys(conf)).toEqual(['__proto__']);
  });

  it('refuses what is no object, and says how to write one', async () => {
    for (const conf of ['{a: 1}', '[1]', '3', 'null', '']) {
      await expect(confOf(context(), { conf, param: [] }), conf).rejects.toMatchObject({
        exitCode: 2,
        hint: expect.stringContaining('--conf'),
      });
    }
  });
});

describe('dates', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00Z'],
    ['2026-01-31T06:00', '2026-01-31T06:00:00Z'],
    ['2026-01-31 06:00:05', '2026-01-31T06:00:05Z'],
    ['2026-01-31T06:00Z', '2026-01-31T06:00:00Z'],
    ['2026-01-31T06:00:00.25+02:00', '2026-01-31T06:00:00.25+02:00'],
    ['2026-01-31T06:00+0200', '2026-01-31T06:00:00+02:00'],
  ])('%s is %s, whatever the time zone of this machine', (text, moment) => {
    expect(parseMoment(text)).toBe(moment);
  });

  it('mean a day to its end only where an end is meant', () => {
    expect(parseLastMoment('2026-01-31')).toBe('2026-01-31T23:59:59Z');
    expect(parseLastMoment('2026-01-31T06:00')).toBe('2026-01-31T06:00:00Z');
  });

  it('that do not exist are refused, not moved to another day', () => {
    for (const text of ['2026-02-30', '2026-13-01', '2026-01-31T25:00', 'yesterday', '31.1.2026', '']) {
      expect(() => parseMoment(text), text).toThrow('Give a date');
    }
  });
});
