/** Which file of the repository needs which other one, in TypeScript and in Python, read from the imports in their text. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Files by the files they import, all from the root of the repository. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

const SOURCES = ['packages/**/*.ts', 'packages/**/*.cjs', 'scripts/**/*.ts', 'bench/**/*.ts', 'bin/*'];

export function typescriptGraph(root: string): ImportGraph {
  const files = globSync(SOURCES, { cwd: root, exclude: (path) => path.includes('node_modules') });
  return new Map(files.map((file) => [file, typescriptImports(root, file)]));
}

/** Imports of types count as well: whoever changes a type wants to see the tests of what uses it. */
function typescriptImports(root: string, file: string): Set<string> {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = [
    ...text.matchAll(/^(?:import|export)\s+(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm),
    ...text.matchAll(/\b(?:import|require)\(\s*'([^']+)'/g),
    ...text.matchAll(/\bnew URL\(\s*'([^']+)',\s*import\.meta\.url/g),
  ].map((match) => match[1] ?? '');
  const targets = specifiers.map((specifier) => {
    if (specifier.startsWith('@svc/')) return `packages/${specifier.slice('@svc/'.length)}`;
    return specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : undefined;
  });
  return new Set(targets.filter((target) => target !== undefined));
}

/** Modules below `python/`, with the packages they are in: importing a module runs the `__init__.py` above it, too. */
export function pythonGraph(root: string): ImportGraph {
  const files = globSync('python/**/*.py', { cwd: root, exclude: (path) => path.includes('.venv') });
  return new Map(files.map((file) => [file, pythonImports(root, file)]));
}

function pythonImports(root: string, file: string): Set<string> {
  const text = readFileSync(join(root, file), 'utf8');
  const found = new Set<string>();
  const add = (folder: string, dotted: string): void => {
    const path = join(folder, ...dotted.split('.').filter((part) => part !== ''));
    for (const candidate of [`${path}.py`, join(path, '__init__.py')])
      if (existsSync(join(root, candidate))) found.add(candidate);
  };
  for (const [, names = ''] of text.matchAll(/^\s*import ([\w.]+(?:\s*,\s*[\w.]+)*)/gm))
    for (const name of names.split(',')) add('python', name.trim());
  for (const match of text.matchAll(/^\s*from (\.*)([\w.]*) import (\([^)]*\)|[^\n#]+)/gm)) {
    const [, dots = '', module = '', names = ''] = match;
    const folder = dots === '' ? 'python' : join(dirname(file), ...Array<string>(dots.length - 1).fill('..'));
    add(folder, module);
    // A name may be a module of the package.
    for (const [name] of names.matchAll(/\w+/g)) add(folder, `${module}.${name}`);
  }
  found.delete(file);
  return found;
}
