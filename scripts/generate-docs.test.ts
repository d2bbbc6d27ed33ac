import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GENERATORS, generateDocs } from './generate-docs.ts';

const generators = [
  { path: 'docs/a.md', render: () => 'a\n' },
  { path: 'docs/deep/b.json', render: async () => '{}\n' },
];

describe('generateDocs', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-docs-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  test('writes what is missing and names it', async () => {
    expect(await generateDocs({ root, generators, check: false })).toEqual(['docs/a.md', 'docs/deep/b.json']);
    expect(readFileSync(join(root, 'docs/deep/b.json'), 'utf8')).toBe('{}\n');
    expect(await generateDocs({ root, generators, check: false })).toEqual([]);
  });

  test('the check names missing and changed pages and touches nothing', async () => {
    await generateDocs({ root, generators, check: false });
    rmSync(join(root, 'docs/deep/b.json'));
    writeFileSync(join(root, 'docs/a.md'), 'edited by hand\n');
    const before = statSync(join(root, 'docs/a.md')).mtimeMs;
    expect(await generateDocs({ root, generators, check: true })).toEqual(['docs/a.md', 'docs/deep/b.json']);
    expect(readFileSync(join(root, 'docs/a.md'), 'utf8')).toBe('edited by hand\n');
    expect(statSync(join(root, 'docs/a.md')).mtimeMs).toBe(before);
    expect(existsSync(join(root, 'docs/deep/b.json'))).toBe(false);
  });

  test('a page that cannot be read is an error and not "missing"', async () => {
    const here = [{ path: '.', render: () => 'x' }];
    await expect(generateDocs({ root, generators: here, check: true })).rejects.toThrow(/EISDIR/);
  });
});

test('no two generators write the same page', () => {
  expect(new Set(GENERATORS.map(({ path }) => path)).size).toBe(GENERATORS.length);
});
