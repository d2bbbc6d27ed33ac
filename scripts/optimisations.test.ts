/** The table of mechanisms that exist only for speed: docs/lab/optimisations.md. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['', 'packages/server', 'python/svc_runtime'];
/** Caches that decide something, and are not only there for speed. */
const NOT_FOR_SPEED = new Set([
  'packages/server/agents/calls/trigger-call.ts',
  'packages/server/api/connections/enqueued-test.ts',
  'packages/server/executors/kubernetes/attempt-pods.ts',
  'packages/server/http/admission/lanes.ts',
]);

const rows = readFileSync(join(ROOT, 'docs/lab/optimisations.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| .*: `/.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));
const fileOf = ([mechanism = '']: readonly string[]): string => /: `([^`]+)`$/.exec(mechanism)?.[1] ?? '';
const pathOf = (file: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, file)).find((path) => existsSync(join(ROOT, path)));

test('each mechanism has its file, its invariant, its figure and its switch, so that a change can be judged', () => {
  expect(rows.length).toBeGreaterThan(50);
  const incomplete = rows.filter((cells) => cells.length !== 4 || cells.includes('') || !pathOf(fileOf(cells)));
  expect(incomplete).toEqual([]);
});

test('each cache that saves work has a row, because an invariant that is not written down is broken later', () => {
  const known = new Set(rows.map((cells) => pathOf(fileOf(cells))));
  const caches = globSync('packages/{server,agent}/**/*.ts', { cwd: ROOT }).filter(
    (file) =>
      !file.includes('node_modules') &&
      !file.endsWith('.test.ts') &&
      !file.endsWith('load-cache.ts') &&
      /from '(lru-cache|.*\/load-cache\.ts)'/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(caches.filter((file) => !known.has(file) && !NOT_FOR_SPEED.has(file))).toEqual([]);
});
