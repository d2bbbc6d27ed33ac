/** Arrows point downward only. The map is docs/architecture.md; this keeps the code to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** What each package, and each folder of the server, may import beside itself and libraries. */
const PACKAGES: Record<string, readonly string[]> = {
  spec: [],
  web: [],
  proto: [],
  client: [],
  mcp: ['spec', 'client'],
  agent: ['spec', 'proto', 'compiler'],
  compiler: ['spec'],
  server: ['spec', 'web', 'proto'],
  cli: ['spec', 'client', 'compiler', 'server', 'web'],
};

const SERVER_FOLDERS: Record<string, readonly string[]> = {
  config: [],
  vault: ['db', 'telemetry'],
  telemetry: ['vault'],
  db: [],
  auth: ['db', 'config'],
  logs: ['db', 'config', 'telemetry'],
  xcom: ['db', 'config'],
  scheduling: ['db', 'config', 'telemetry', 'xcom'],
  executors: ['config', 'scheduling', 'telemetry', 'agents'],
  agents: ['auth', 'config', 'db', 'logs', 'scheduling', 'telemetry', 'vault', 'xcom'],
  dags: ['db', 'scheduling'],
  workspace: [],
  api: ['auth', 'config', 'dags', 'db', 'logs', 'scheduling', 'telemetry', 'vault', 'version.ts', 'workspace', 'xcom'],
};

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      (name) =>
        name.endsWith('.ts') &&
        !name.includes('node_modules') &&
        // Harnesses put the whole product together, as its users do.
        !name.includes('testing/') &&
        !name.includes('chaos/') &&
        !name.endsWith('.test.ts'),
    )
    .map((name) => join(folder, name));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => {
    const specifier = match[1] ?? '';
    if (specifier.startsWith('@svc/')) return `packages/${specifier.slice('@svc/'.length)}`;
    return specifier.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), specifier)) : '';
  });
}

/** Every import that the table does not allow, as `from → to`. `depth` says which part of the path names the unit. */
function forbidden(input: { folder: string; depth: number; allowed: Record<string, readonly string[]> }): string[] {
  const { folder, depth, allowed } = input;
  return sourceFiles(folder).flatMap((file) => {
    const unit = file.split('/')[depth] ?? '';
    if (!Object.hasOwn(allowed, unit)) return [];
    const targets = importsOf(file).filter((target) => target.startsWith(`${folder}/`));
    return targets
      .filter((target) => ![unit, ...(allowed[unit] ?? [])].includes(target.split('/')[depth] ?? ''))
      .map((target) => `${file} → ${target}`);
  });
}

describe('imports', () => {
  it('between packages follow the map, so that a lower one never needs a higher one', () => {
    expect(forbidden({ folder: 'packages', depth: 1, allowed: PACKAGES })).toEqual([]);
  });

  it('between the folders of the server follow the map', () => {
    expect(forbidden({ folder: 'packages/server', depth: 2, allowed: SERVER_FOLDERS })).toEqual([]);
  });

  it('see every package: a new one must be put on the map', () => {
    const packages = readdirSync(join(ROOT, 'packages'));
    expect(Object.keys(PACKAGES).sort()).toEqual(packages.sort());
  });
});
