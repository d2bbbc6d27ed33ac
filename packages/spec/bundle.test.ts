import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
const write = (path: string, text: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
};
const stampOf = (path: string): string => {
  const { mtimeMs, size } = statSync(join(root, path));
  return `${mtimeMs} ${size}`;
};
const SOURCES = ['packages/cli/main.ts', 'packages/cli/part.ts', 'node_modules/.package-lock.json'];
/** What is said by the program that is really run. */
const said = (program = 'cli'): string =>
  execFileSync(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--require',
      join(root, 'packages', 'spec', 'compiled-code.cjs'),
      join(root, 'packages', program, 'main.ts'),
      'words',
    ],
    { encoding: 'utf8', env: { ...process.env, XDG_CACHE_HOME: join(root, 'cache') } },
  ).trim();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-bundle-'));
  for (const name of ['bundle.cjs', 'compiled-code.cjs']) {
    mkdirSync(join(root, 'packages', 'spec'), { recursive: true });
    copyFileSync(join(import.meta.dirname, name), join(root, 'packages', 'spec', name));
  }
  write('package.json', '{ "type": "module" }');
  write('node_modules/.package-lock.json', '{}');
  write('packages/cli/part.ts', "export const place: string = 'the sources';");
  for (const program of ['cli', 'other'])
    write(
      `packages/${program}/main.ts`,
      "import { place } from '../cli/part.ts'; console.log(place, process.argv.slice(2));",
    );
  const bundles = 'node_modules/.cache/svc-programs';
  write(`${bundles}/bundle-1/package.json`, '{ "type": "module" }');
  write(`${bundles}/bundle-1/chunk.js`, "export const place = 'the bundle';");
  write(
    `${bundles}/bundle-1/cli.js`,
    "import { place } from './chunk.js'; console.log(place, process.argv.slice(2), (await import('node:path')).sep);",
  );
  const stamps = Object.fromEntries(SOURCES.map((path) => [path, stampOf(path)]));
  write(`${bundles}/current.json`, JSON.stringify({ folder: 'bundle-1', stamps }));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a program of a checkout', () => {
  it('runs from its bundle, and one that has none from its sources', () => {
    expect(said()).toBe("the bundle [ 'words' ] /");
    expect(said('other')).toBe("the sources [ 'words' ]");
  });

  it.each(SOURCES)('runs from its sources when %s has changed, whatever its time says', (path) => {
    const { atime, mtime } = statSync(join(root, path));
    write(
      path,
      path.endsWith('main.ts')
        ? "console.log('the sources, changed');"
        : "export const place = 'the sources, changed';",
    );
    utimesSync(join(root, path), atime, mtime);
    expect(said()).toMatch(/^the sources/);
  });

  it('runs from its sources when one was saved again, one is gone, or what is said of the bundle cannot be read', () => {
    utimesSync(join(root, 'packages/cli/part.ts'), 1, 1);
    expect(said()).toMatch(/^the sources/);
    rmSync(join(root, 'node_modules/.package-lock.json'));
    expect(said()).toMatch(/^the sources/);
    write('node_modules/.cache/svc-programs/current.json', '{ "folder": ');
    expect(said()).toMatch(/^the sources/);
  });
});
