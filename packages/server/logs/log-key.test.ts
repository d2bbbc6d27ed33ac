import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeName, isOfTask, logKeySegments } from './log-key.ts';
import type { LogKey } from './log-key.ts';

const LINUX = { caseSensitive: true };
const logKey = (parts: Partial<LogKey>): LogKey => ({
  tenantId: 'tenant',
  dagId: 'dag',
  runId: 'run',
  taskId: 'task',
  mapIndex: -1,
  tryNumber: 1,
  ...parts,
});

/** Ids with what is dangerous in a path more likely than chance would have it. */
const anyId = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(fc.constantFrom('.', '..', '/', '\\', '~', '%', '%2F', '\u0000', '\n', 'a', 'A', 'é', '1'), { maxLength: 8 })
    .map((parts) => parts.join('')),
  fc.string({ minLength: 150, maxLength: 300 }),
);
const anyLogKey = fc.record({
  tenantId: anyId,
  dagId: anyId,
  runId: anyId,
  taskId: anyId,
  mapIndex: fc.integer({ min: -1, max: 20_000 }),
  tryNumber: fc.integer({ min: 1, max: 1_000 }),
});

describe('a log key', () => {
  it('is readable for ids as people write them', () => {
    const segments = logKeySegments(
      logKey({ dagId: 'etl.daily', runId: 'manual__2026-01-02T10:00:00.5+00:00', taskId: 'group.load', tryNumber: 3 }),
      LINUX,
    );
    expect(segments).toEqual(['tenant', 'etl.daily', 'manual__2026-01-02T10:00:00.5+00:00', 'group.load~3.log']);
    expect(logKeySegments(logKey({ mapIndex: 7 }), LINUX)).toEqual(['tenant', 'dag', 'run', 'task~7~1.log']);
  });

  it('never leaves its folder, whatever the ids are', () => {
    fc.assert(
      fc.property(anyLogKey, fc.boolean(), (ids, caseSensitive) => {
        const segments = logKeySegments(ids, { caseSensitive });
        expect(segments).toHaveLength(4);
        for (const segment of segments) {
          expect(segment).toMatch(/^[\w.:+=@,%~-]+$/);
          expect(segment).not.toMatch(/^\./);
          expect(segment.length).toBeLessThan(255);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is another one for every other log', () => {
    fc.assert(
      fc.property(anyLogKey, anyLogKey, fc.boolean(), (one, other, caseSensitive) => {
        const path = (ids: LogKey) => logKeySegments(ids, { caseSensitive }).join('/');
        const seen = (text: string) => (caseSensitive ? text : text.toLowerCase());
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(seen(path(one))).not.toBe(seen(path(other)));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['a mapped instance and a task named like one', { taskId: 'task', mapIndex: 1 }, { taskId: 'task~1' }],
    ['a mapped instance and a try', { taskId: 'task', mapIndex: 1, tryNumber: 2 }, { taskId: 'task', tryNumber: 12 }],
    ['a task and one named like its log', { taskId: 'task' }, { taskId: 'task~1.log' }],
    ['an encoded id and an id that looks encoded', { taskId: 'a/b' }, { taskId: 'a%2Fb' }],
    ['two long ids that begin alike', { runId: 'x'.repeat(249) }, { runId: `${'x'.repeat(248)}y` }],
    ['no id and the id of its sign', { runId: '' }, { runId: '%' }],
  ])('keeps apart %s', (_what, one, other) => {
    expect(logKeySegments(logKey(one), LINUX)).not.toEqual(logKeySegments(logKey(other), LINUX));
  });

  it('keeps capitals apart where the file system does not', () => {
    const segments = (dagId: string) =>
      logKeySegments(logKey({ dagId }), { caseSensitive: false }).join('/').toLowerCase();
    expect(segments('Etl')).not.toBe(segments('etl'));
  });

  it('can be read back, unless the id was too long', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const name = encodeName(id, LINUX);
        fc.pre(id !== '' && !name.includes('~'));
        expect(decodeURIComponent(name)).toBe(id.toWellFormed());
      }),
    );
  });
});

describe('what a task has in the folder of a run', () => {
  const ofTask = (name: string, of: Parameters<typeof isOfTask>[1] = { taskId: 'load' }) =>
    isOfTask({ name, isFolder: !name.endsWith('.log') }, of, LINUX);

  it('is its own and that of its instances, not that of a task whose name begins alike', () => {
    const own = ['load', 'load~0', 'load~12', 'load~1.log', 'load~12~3.log'];
    expect(own.filter((name) => !ofTask(name))).toEqual([]);
    const others = [
      'loader',
      'load.b',
      'load~',
      'load~x',
      'load~~ab',
      'Load',
      'load.log',
      'loader~1.log',
      'load~x~1.log',
    ];
    expect(others.filter((name) => ofTask(name))).toEqual([]);
    const long = 'l'.repeat(240);
    expect(ofTask(`${encodeName(long, LINUX)}~3`, { taskId: long })).toBe(true);
    expect(ofTask(`${encodeName(long, LINUX)}~3~1.log`, { taskId: long })).toBe(true);
    expect(ofTask(encodeName(`${long}m`, LINUX), { taskId: long })).toBe(false);
  });

  it('can be that of one instance or one try', () => {
    const names = ['load', 'load~3', 'load~1.log', 'load~2.log', 'load~3~1.log', 'load~3~2.log'];
    const chosen = (of: { mapIndex?: number; tryNumber?: number }) =>
      names.filter((name) => ofTask(name, { taskId: 'load', ...of }));
    expect(chosen({ mapIndex: 3 })).toEqual(['load~3', 'load~3~1.log', 'load~3~2.log']);
    expect(chosen({ mapIndex: -1 })).toEqual(['load', 'load~1.log', 'load~2.log']);
    expect(chosen({ tryNumber: 2 })).toEqual(['load', 'load~3', 'load~2.log', 'load~3~2.log']);
  });
});
