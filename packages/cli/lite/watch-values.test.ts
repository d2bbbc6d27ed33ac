import { setTimeout as sleep } from 'node:timers/promises';
import type { ValueRead } from '@svc/spec/values-read.ts';
import { expect, it, vi } from 'vitest';
import { watchValues } from './watch-values.ts';

const read = (name: string, fingerprint: string): ValueRead => ({ kind: 'variable', name, fingerprint });

/** A vault whose values are numbers, and files that read one variable each. */
function world(files: Record<string, string>) {
  const state = { changes: 0, values: new Map<string, number>() };
  const known = new Map(Object.entries(files).map(([file, name]) => [file, [read(name, '0')]]));
  const fingerprint = (name: string) => String(state.values.get(name) ?? 0);
  const passes: string[][] = [];
  return {
    passes,
    change(name: string) {
      state.changes += 1;
      state.values.set(name, (state.values.get(name) ?? 0) + 1);
    },
    asks: 0,
    sync: {
      reads: () => known,
      async syncUnits(names: ReadonlySet<string>) {
        passes.push([...names].sort());
        await sleep(1);
        for (const file of names) known.set(file, [read(files[file] ?? '', fingerprint(files[file] ?? ''))]);
      },
    },
    values: {
      stamp: () => Promise.resolve(String(state.changes)),
      changed: vi.fn((reads: readonly ValueRead[]) =>
        Promise.resolve(
          new Set(reads.filter((r) => fingerprint(r.name) !== r.fingerprint).map((r) => `variable ${r.name}`)),
        ),
      ),
    },
  };
}

it('a storm of changes of variables compiles each affected file a few times, and no other file', async () => {
  const { sync, values, change, passes } = world({ 'a.py': 'x', 'b.py': 'y' });
  const watch = watchValues({ sync, values, warn: () => {}, lookEveryMs: 2 });
  for (let round = 0; round < 1_000; round += 1) {
    change('x');
    if (round % 100 === 0) await sleep(1);
  }
  await expect.poll(() => sync.reads().get('a.py')).toEqual([read('x', '1000')]);
  await watch.close();
  expect(passes.every((names) => names.join() === 'a.py')).toBe(true);
  expect(passes.length).toBeLessThan(20);
});

it('an unchanged vault costs one look at its stamp, and files that read nothing not even that', async () => {
  const { sync, values } = world({ 'a.py': 'x' });
  let looks = 0;
  const stamp = () => Promise.resolve(String((looks += 1) && 0));
  const watch = watchValues({ sync, values: { ...values, stamp }, warn: () => {}, lookEveryMs: 1 });
  await expect.poll(() => looks).toBeGreaterThan(3);
  await watch.close();
  expect(values.changed).toHaveBeenCalledTimes(1);
});

it('a database that is away for a while does not end the watch of values', async () => {
  const { sync, values, change, passes } = world({ 'a.py': 'x' });
  const warnings: string[] = [];
  let isAway = true;
  const stamp = () => (isAway ? Promise.reject(new Error('away')) : values.stamp());
  const watch = watchValues({
    sync,
    values: { ...values, stamp },
    warn: (text) => warnings.push(text),
    lookEveryMs: 1,
  });
  await expect.poll(() => warnings.length).toBeGreaterThan(1);
  change('x');
  isAway = false;
  await expect.poll(() => passes).toEqual([['a.py']]);
  await watch.close();
});
