import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../paths.ts';
import { LONG_FILES, LONG_SERVICES } from './long-files-first.ts';
import { OTHER_PROCESSES, testFilesByTier, tierOf } from './tiers.ts';

let root: string;
beforeAll(() => (root = mkdtempSync(join(tmpdir(), 'svc-tiers-'))));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function tierWith(text: string, harnesses: Record<string, string> = {}): string {
  const files = {
    'packages/server/some.test.ts': text,
    'packages/testing/postgres/test-database.ts': '',
    ...harnesses,
  };
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
  return tierOf('packages/server/some.test.ts', root);
}

describe('the tier of a test file', () => {
  it('is unit when it imports only the product', () => {
    expect(tierWith("import { plan } from './plan.ts';\nimport fc from 'fast-check';")).toBe('unit');
  });

  it('is db when it uses Postgres, directly or through a harness of a harness', () => {
    expect(tierWith("import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';")).toBe('db');
    const harnesses = {
      'packages/testing/server/test-server.ts': "export { a } from '../engine/rows.ts';",
      'packages/testing/engine/rows.ts': "import {\n  x,\n} from '../postgres/test-database.ts';",
    };
    expect(tierWith("import { start } from '@svc/testing/server/test-server.ts';", harnesses)).toBe('db');
  });

  it('is system when it starts processes, also beside a database and only later', () => {
    expect(tierWith("import { spawn } from 'node:child_process';")).toBe('system');
    const later = "'playwright-core'"; // in one piece with its import this file would be in the system tier itself
    expect(tierWith(`import '@svc/testing/postgres/test-database.ts';\nawait import(${later});`)).toBe('system');
  });

  it('is alone when it needs a process of its own, whatever else it needs', () => {
    const own = "'@svc/testing/own-process.ts'"; // in one piece with its import this file would run alone itself
    expect(
      tierWith(`import { spawn } from 'node:child_process';\nimport { memoryDuring } from ${own};`, {
        'packages/testing/own-process.ts': '',
      }),
    ).toBe('alone');
  });

  it('does not follow from types', () => {
    expect(tierWith("import type { ChildProcess } from 'node:child_process';")).toBe('unit');
  });

  it('is known for every test file, and every tier has some', () => {
    const tiers = testFilesByTier();
    expect(tiers.unit).toContain('packages/testing/vitest/tiers.test.ts');
    expect(Object.values(tiers).every((files) => files.length > 0)).toBe(true);
  });

  it('is none for what needs a cluster or slow servers, which npm test must do without', () => {
    expect(existsSync(join(ROOT, 'packages/testing/kubernetes/cluster.kubernetes.test.ts'))).toBe(true);
    const files = Object.values(testFilesByTier()).flat();
    expect(files.filter((file) => /\.(kubernetes|services)\.test\./.test(file))).toEqual([]);
  });

  it('is told by parts of the product that are still there', () => {
    const files = [...OTHER_PROCESSES].filter((name) => name.startsWith('packages/'));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('the order of test files', () => {
  it('names files that are still there', () => {
    expect([...LONG_FILES, ...LONG_SERVICES].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('a unit test', () => {
  it('that starts a process behind the back of the imports fails with what to do', () => {
    const { spawn, execFileSync } = process.getBuiltinModule('node:child_process');
    expect(() => spawn('true')).toThrow(
      /tiers\.test\.ts started the process true, which tests of the unit tier do not/,
    );
    expect(() => execFileSync('true')).toThrow(/system tier/);
  });

  it('that asks for Postgres behind the back of the imports fails with what to do', async () => {
    const hidden = '../postgres/postgres-url.ts';
    const { postgresUrl } = (await import(hidden)) as { postgresUrl(): string };
    expect(() => postgresUrl()).toThrow('tests of the unit tier have no Postgres');
  });
});
