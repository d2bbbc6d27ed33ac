import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FILE_LIMITS, tooLarge } from './limits.ts';
import type { FileKind, FileLimits } from './limits.ts';

const DOCS = join(import.meta.dirname, '..', '..', '..', 'docs', 'limits.md');
/** How the page calls what a message calls otherwise. */
const NAMES: Partial<Record<FileKind, string>> = {
  project: '`svc.yaml`',
  requirements: 'requirements and constraints files',
  dockerfile: '`Dockerfile`',
  lockFile: 'lock files',
};
const kinds = Object.keys(FILE_LIMITS) as FileKind[];

it.each(kinds)('the limits of a file are those of docs/limits.md: %s', (kind) => {
  const { what, bytes, depth, keys, aliases }: FileLimits = FILE_LIMITS[kind];
  const rows = readFileSync(DOCS, 'utf8').split('\n');
  const row = rows.find((line) => line.startsWith('| ') && line.includes(NAMES[kind] ?? what));
  const size = bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
  const others = [
    depth === undefined ? '' : `${depth} levels`,
    keys === undefined ? '' : `${keys.toLocaleString('en')} keys`,
    aliases === undefined ? '' : `${aliases} anchors and aliases`,
  ];
  for (const words of [`| ${size} |`, ...others]) expect(row).toContain(words);
});

it('a file one byte above its limit says so without a contradiction', () => {
  expect(tooLarge('project', 'svc.yaml', 65_537).message).toBe(
    'is too large: it has 65,537 bytes, and the limit is 64 KiB',
  );
});
