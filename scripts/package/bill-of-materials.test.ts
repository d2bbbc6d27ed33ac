import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { billOfMaterials, npmParts } from './bill-of-materials.ts';
import type { LockedPackages } from './bill-of-materials.ts';
import { pythonParts } from './python-parts.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as { packages: LockedPackages };
const SVC = { name: 'svc', version: '1.0.0', license: 'Apache-2.0', ecosystem: 'npm' } as const;

const LOCKED: LockedPackages = {
  'node_modules/a': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAAA', dependencies: { b: '^1', c: '*' } },
  'node_modules/b': { version: '2.0.0', license: 'ISC' },
  'node_modules/a/node_modules/b': { version: '1.0.0', license: '(MIT OR ISC)' },
  'node_modules/c': { version: '3.0.0', license: 'ISC', optionalDependencies: { absent: '*', d: '*' } },
  'node_modules/d': { version: '4.0.0', license: 'MIT', peerDependencies: { a: '*' } },
};

it('a bill of materials names each installed version, also of a package that is there twice', () => {
  const { direct, parts } = npmParts(LOCKED, [{ folder: 'packages/x', names: ['a'] }]);
  const bill = billOfMaterials(SVC, direct, parts);
  expect(bill.components.map(({ purl, scope }) => [purl, scope])).toEqual([
    ['pkg:npm/a@1.0.0', 'required'],
    ['pkg:npm/b@1.0.0', 'required'],
    ['pkg:npm/c@3.0.0', 'required'],
    ['pkg:npm/d@4.0.0', 'optional'],
  ]);
  expect(bill.components[0]?.hashes).toEqual([{ alg: 'SHA-512', content: '000000' }]);
  expect(bill.components[1]?.licenses).toEqual([{ expression: 'MIT OR ISC' }]);
  expect(bill.dependencies[0]).toEqual({ ref: 'pkg:npm/svc@1.0.0', dependsOn: ['pkg:npm/a@1.0.0'] });
});

it('a package that is needed and not locked stops the release instead of missing in the bill', () => {
  expect(() => npmParts(LOCKED, [{ folder: 'packages/x', names: ['absent'] }])).toThrow('not in the lock file');
});

it('the same release has the same bill, so that two builds can be compared', () => {
  const bill = (): string => {
    const { direct, parts } = npmParts(packages, [{ folder: 'packages/server', names: ['fastify', 'pg'] }]);
    return JSON.stringify(billOfMaterials(SVC, direct, parts));
  };
  expect(bill()).toBe(bill());
});

it('every Python package of the wheel is pinned and has a licence', () => {
  const { parts } = pythonParts(read('python/requirements.txt'));
  expect(parts.map(({ component }) => component.name)).toContain('jinja2');
  expect(() => pythonParts('unknown==1.0\n')).toThrow('write down the licence');
  expect(() => pythonParts('jinja2>=3\n')).toThrow('not pinned');
});

/** What Apache-2.0 software may be distributed with. */
const ALLOWED = new Set(['MIT', 'Apache-2.0', 'BSD-3-Clause', 'BSD-2-Clause', 'ISC', 'BlueOak-1.0.0', '0BSD', 'MPL-2.0 OR Apache-2.0', 'Apache-2.0 OR BSD-3-Clause']); // prettier-ignore

it('no package under a licence that forbids to distribute it with svc is released', () => {
  const released = Object.entries(packages).filter(
    ([path, { license }]) => /(^|\/)node_modules\//.test(path) && license,
  );
  const production = released.filter(([, locked]) => (locked as { dev?: boolean }).dev !== true);
  const foreign = production.filter(([, { license = '' }]) => !ALLOWED.has(license.replace(/^\((.*)\)$/, '$1')));
  expect(foreign.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  const python = pythonParts(read('python/requirements.txt')).parts.flatMap(({ component }) => component.licenses);
  for (const entry of python) expect(ALLOWED).toContain('expression' in entry ? entry.expression : entry.license.id);
});
