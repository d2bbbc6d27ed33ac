/**
 * Which tier a test file belongs to. What it imports decides, by itself or through a harness: a name or a list could say
 * one thing while the file does another, and would have to be changed with every test that starts to need a database.
 *
 *   unit     neither of the two below
 *   db       Postgres: anything in packages/testing/postgres
 *   system   other processes: children, a browser, Python
 *   alone    a process of its own, where the others share theirs: packages/testing/own-process.ts, which says what for
 *
 * In no tier is what needs a cluster (*.kubernetes.test.ts, `npm run test:kubernetes`) or servers that take minutes to
 * prepare (*.services.test.ts, `npm run test:services`).
 * A unit test that reaches for one of them behind the imports' back is stopped while it runs (no-outside-world.ts).
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ROOT } from '../paths.ts';

export type Tier = 'unit' | 'db' | 'system' | 'alone';

const HARNESSES = 'packages/testing/';
/** A harness of Postgres clusters starts processes, but only those of Postgres. */
const POSTGRES = 'packages/testing/postgres/';
const OWN_PROCESS = 'packages/testing/own-process.ts';
export const OTHER_PROCESSES = new Set([
  'node:child_process',
  'playwright-core',
  'packages/testing/python-environment.ts',
  '@modelcontextprotocol/sdk/client/stdio.js',
  // Parts of the product that are there to start a program.
  'packages/cli/build/container-tool.ts',
  'packages/cli/build/registry-login.ts',
  'packages/proto/generate.ts',
]);

/** Every test file of the repository, from its root, by tier. */
export function testFilesByTier(root: string = ROOT): Record<Tier, string[]> {
  const tiers: Record<Tier, string[]> = { unit: [], db: [], system: [], alone: [] };
  for (const file of testFiles(root)) tiers[tierOf(file, root)].push(file);
  return tiers;
}

/** Those whose inputs are made from a seed. */
export const propertyTests = (root: string = ROOT): string[] =>
  testFiles(root).filter((file) => importsOf(file, root).includes('fast-check'));

const testFiles = (root: string): string[] =>
  globSync(['packages/**/*.test.ts', 'scripts/**/*.test.ts'], {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || /\.(kubernetes|nightly|services)\.test\.ts$/.test(path),
  }).sort();

/** `file` from the root of the repository. */
export function tierOf(file: string, root: string = ROOT): Tier {
  const reached = reachedFrom(file, root, new Set());
  if (reached.has(OWN_PROCESS)) return 'alone';
  if ([...reached].some((target) => OTHER_PROCESSES.has(target))) return 'system';
  return [...reached].some((target) => target.startsWith(POSTGRES)) ? 'db' : 'unit';
}

/** What the file imports, and what the harnesses among that import. The product itself is not looked into. */
function reachedFrom(file: string, root: string, reached: Set<string>): Set<string> {
  for (const target of importsOf(file, root)) {
    if (reached.has(target)) continue;
    reached.add(target);
    const isLeaf = target.startsWith(POSTGRES) || OTHER_PROCESSES.has(target);
    if (target.startsWith(HARNESSES) && !isLeaf) reachedFrom(target, root, reached);
  }
  return reached;
}

/** Files from the root of the repository, packages by name; what is imported only for its types does not count. */
function importsOf(file: string, root: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm);
  const calls = text.matchAll(/\bimport\(\s*'([^']+)'/g);
  return [...statements, ...calls].map((match) => {
    const specifier = match[1] ?? '';
    if (specifier.startsWith('@svc/')) return `packages/${specifier.slice('@svc/'.length)}`;
    return specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier;
  });
}
