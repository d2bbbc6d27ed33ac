// Makes the npm packages that are released, in dist/: a folder, a tarball and a bill of materials (CycloneDX) for each, and
// the bill of materials of the Python wheel in them.
//
//   npm run pack                       # all of them
//   npm run pack -- --package svc      # only this one
//
// A package has the layout of the repository, so that what modules read beside themselves is where it was, but only the
// modules its programs import, as JavaScript, and what those read. No tests, no TypeScript, nothing that only we need.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { billOfMaterials, npmParts } from './package/bill-of-materials.ts';
import type { BillOfMaterials, LockedPackages } from './package/bill-of-materials.ts';
import { compileModules } from './package/compile-modules.ts';
import { mergeDependencies } from './package/merge-dependencies.ts';
import type { Located, LockFile, Manifest } from './package/merge-dependencies.ts';
import { ENGINES, NODE_PACKAGES, PRODUCTS } from './package/products.ts';
import { pythonParts } from './package/python-parts.ts';
import type { Product } from './package/products.ts';

const ROOT = join(import.meta.dirname, '..');
/** Beside the modules; golden/ has answers that tests compare with. */
const LEFT_BEHIND = new Set(['package.json', 'tsconfig.json', 'node_modules', 'golden', '__pycache__']);

type RootManifest = Manifest & { license: string; dependencies: { node: string } };

/** The path of the tarball. `directory` is where folder and tarball go. */
export async function buildPackage(product: Product, directory: string): Promise<string> {
  const root = readJson<RootManifest>('package.json');
  const stage = join(directory, product.name);
  rmSync(stage, { recursive: true, force: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    writeFileSync(join(stage, path), text);
  };
  const writeJson = (path: string, value: object): void => write(path, `${JSON.stringify(value, null, 2)}\n`);

  const { modules, packages } = await compileModules(ROOT, [...Object.values(product.programs), ...product.threads]);
  for (const [path, text] of modules) write(path, text);
  const commit = currentCommit() ?? root.version;
  for (const folder of packages) {
    copy(folder, stage);
    const { name, version } = readJson<Manifest>(join(folder, 'package.json'));
    writeJson(join(folder, 'package.json'), { name, version, commit, private: true, type: 'module' });
  }
  for (const path of product.files) copy(path, stage);
  const bin = Object.fromEntries(Object.keys(product.programs).map((name) => [name, `bin/${name}`]));
  for (const script of ['bin/find-node.sh', ...Object.values(bin)]) {
    write(script, readFileSync(join(ROOT, script), 'utf8').replaceAll('/main.ts"', '/main.js"'));
    chmodSync(join(stage, script), 0o755);
  }

  const lock = readJson<LockFile>('package-lock.json');
  const located = packages.map((folder) => ({ folder, manifest: readJson<Manifest>(join(folder, 'package.json')) }));
  writeJson('package.json', {
    name: product.name,
    version: root.version,
    description: product.description,
    license: root.license,
    type: 'module',
    bin,
    engines: ENGINES,
    dependencies: mergeDependencies(located, 'dependencies', lock),
    optionalDependencies: {
      ...mergeDependencies(located, 'optionalDependencies', lock),
      ...Object.fromEntries(NODE_PACKAGES.map((name) => [name, root.dependencies.node])),
    },
  });
  writeBill(directory, npmBill(product, root, located));
  return pack(stage, directory);
}

const foreign = (names: Readonly<Record<string, string>> = {}): string[] =>
  Object.keys(names).filter((name) => !name.startsWith('@svc/'));

/** Of the package with everything that npm installs for it. */
function npmBill(product: Product, root: RootManifest, located: readonly Located[]): BillOfMaterials {
  const { packages } = readJson<{ packages: LockedPackages }>('package-lock.json');
  const needs = located.flatMap(({ folder, manifest }) => [
    { folder, names: foreign(manifest.dependencies) },
    { folder, names: foreign(manifest.optionalDependencies), isOptional: true },
  ]);
  const { direct, parts } = npmParts(packages, needs);
  const released = { name: product.name, version: root.version, license: root.license, ecosystem: 'npm' } as const;
  return billOfMaterials(released, direct, parts);
}

/** Of the Python wheel, which is part of each package. */
function pythonBill(): BillOfMaterials {
  const { version, license } = readJson<RootManifest>('package.json');
  const { direct, parts } = pythonParts(readFileSync(join(ROOT, 'python/requirements.txt'), 'utf8'));
  return billOfMaterials({ name: 'svc-airflow', version, license, ecosystem: 'pypi' }, direct, parts);
}

function writeBill(directory: string, bill: BillOfMaterials): void {
  const { name, version } = bill.metadata.component;
  writeFileSync(join(directory, `${name}-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
}

/** Everything but TypeScript: that was compiled as far as it is needed. */
function copy(path: string, stage: string): void {
  cpSync(join(ROOT, path), join(stage, path), {
    recursive: true,
    filter: (source) => !LEFT_BEHIND.has(basename(source)) && !/\.(?:c?ts|pyc)$/.test(source),
  });
}

function pack(stage: string, directory: string): string {
  const options = ['--pack-destination', directory, '--json', '--ignore-scripts'];
  const output = execFileSync('npm', ['pack', ...options], { cwd: stage, encoding: 'utf8' });
  const [made] = JSON.parse(output) as [{ filename: string }];
  return join(directory, made.filename);
}

/** As `git describe` says it; undefined where this is no checkout. */
function currentCommit(): string | undefined {
  try {
    const described = ['describe', '--always', '--dirty'];
    return execFileSync('git', described, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;

if (import.meta.main) {
  const { values } = parseArgs({ options: { package: { type: 'string', multiple: true } } });
  const names = PRODUCTS.map(({ name }) => name);
  const unknown = values.package?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--package ${unknown} is none of ${names.join(', ')}`);
  for (const product of PRODUCTS.filter(({ name }) => values.package?.includes(name) ?? true)) {
    console.log(await buildPackage(product, join(ROOT, 'dist')));
  }
  writeBill(join(ROOT, 'dist'), pythonBill());
}
