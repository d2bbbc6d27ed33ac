/** Each direct dependency is justified on docs/dependencies.md: one that nobody can justify is code that nobody looks after. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8');
type Manifest = Partial<Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>> & {
  scripts?: Record<string, string>;
  allowScripts?: Record<string, boolean>;
};
const read = (path: string): Manifest => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Manifest;
const manifests = globSync(['package.json', 'packages/*/package.json', 'deploy/*/package.json'], { cwd: ROOT }).map(
  read,
);

const namesOf = (fields: readonly (keyof Manifest & `${string}ependencies`)[]): Set<string> =>
  new Set(
    manifests
      .flatMap((manifest) => fields.flatMap((field) => Object.keys(manifest[field] ?? {})))
      .filter((name) => !name.startsWith('@svc/')),
  );

/** The rows of the table below a heading: package and reason. */
function rowsBelow(heading: string): Map<string, string> {
  const section = PAGE.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return new Map([...section.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name = '', why = '']) => [name, why]));
}

it('every direct dependency has a row with its reason, and no row is about a dependency that is gone', () => {
  const running = namesOf(['dependencies', 'optionalDependencies']);
  const developing = [...namesOf(['devDependencies'])].filter((name) => !running.has(name));
  expect([...rowsBelow('Packages that run with svc').keys()].toSorted()).toEqual([...running].toSorted());
  expect([...rowsBelow('Packages for development and tests').keys()].toSorted()).toEqual(developing.toSorted());
  for (const why of rowsBelow('Packages that run with svc').values()) expect(why.length).toBeGreaterThan(10);
});

it('the install scripts that run by name are those that the lock file has and package.json allows', () => {
  const { scripts = {}, allowScripts = {} } = read('package.json');
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }>;
  };
  const withScript = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => hasInstallScript === true && path.startsWith('node_modules/'))
    .map(([path]) => path.slice('node_modules/'.length));
  const needed = withScript.filter((name) => allowScripts[name] === true);
  for (const name of withScript) expect(Object.keys(allowScripts)).toContain(name);
  const run = /^npm rebuild (.*)$/.exec(scripts['install-scripts'] ?? '')?.[1]?.split(' ') ?? [];
  expect(run.filter((word) => !word.startsWith('--')).toSorted()).toEqual(needed.toSorted());
});
