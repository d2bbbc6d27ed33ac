/**
 * What tests had to wait for, and how long. `eventually` is patient, because machines are slow; without a record, a wait that
 * grows from milliseconds to seconds would go unnoticed.
 *
 * Each worker appends to a file of its own in the folder that the environment names; without a folder nothing is recorded.
 */
import { appendFileSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './paths.ts';

export const WAITS_VARIABLE = 'SVC_TEST_WAITS';

/** `place`: where it was waited. `file`: the test file that led there, where the stack still knows it. */
export type Wait = { readonly ms: number; readonly place: string; readonly file: string };

/** Shorter ones happen thousands of times and say nothing. */
const RECORDED_FROM_MS = 100;
const STACK_DEPTH = 50;

/** To be called where a wait begins; call what it returns when the wait is over. */
export function beginWait(): () => void {
  const folder = process.env[WAITS_VARIABLE];
  if (folder === undefined || folder === '') return () => {};
  const begun = performance.now();
  const depth = Error.stackTraceLimit;
  Error.stackTraceLimit = STACK_DEPTH;
  const called = new Error('for its stack');
  Error.stackTraceLimit = depth;
  return () => {
    const ms = Math.round(performance.now() - begun);
    if (ms < RECORDED_FROM_MS) return;
    const wait: Wait = { ms, ...placeOf(called.stack ?? '') };
    appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(wait)}\n`);
  };
}

const HARNESSES = /packages\/testing\/(slow-waits|eventually)\.ts/;

function placeOf(stack: string): { place: string; file: string } {
  const frames = [...stack.matchAll(/(?:file:\/\/)?(\/[^\s()?]+?\.ts)(?:\?[^:]*)?:(\d+):\d+/g)].flatMap(
    ([, path, line]) => (path === undefined ? [] : [{ path: relative(ROOT, path), line }]),
  );
  const own = frames.filter(({ path }) => !HARNESSES.test(path) && !path.includes('node_modules'));
  const [caller] = own;
  const place = caller ? `${caller.path}:${caller.line}` : 'unknown';
  return { place, file: own.find(({ path }) => path.endsWith('.test.ts'))?.path ?? caller?.path ?? 'unknown' };
}

export const readWaits = (folder: string): Wait[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Wait);

/** One line for each place at which somebody waited longer than the limit, the longest first; none when nobody did. */
export function reportWaits(waits: readonly Wait[], longerThanMs: number): string[] {
  const slow = Map.groupBy(
    waits.filter(({ ms }) => ms > longerThanMs),
    ({ place }) => place,
  );
  const lines = [...slow].map(([place, own]) => {
    const longest = Math.max(...own.map(({ ms }) => ms));
    const files = [...new Set(own.map(({ file }) => file))].filter((file) => !place.startsWith(file));
    const from = files.length === 0 ? '' : ` from ${files.slice(0, 3).join(', ')}`;
    return { longest, text: `${(longest / 1_000).toFixed(1).padStart(6)} s  ${own.length} ×  ${place}${from}` };
  });
  return lines.sort((a, b) => b.longest - a.longest).map(({ text }) => text);
}
