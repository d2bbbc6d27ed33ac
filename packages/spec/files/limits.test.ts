import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FILE_LIMITS, FileLimitError, checkLines, tooDeep, tooLarge } from './limits.ts';
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

it('a size is shown in the unit that people read', () => {
  const sizes = [70_000, 3 * 2 ** 20, 1.5 * 2 ** 20].map((bytes) => tooLarge('project', 'svc.yaml', bytes).message);
  expect(sizes.map((text) => /it has (.*), and/.exec(text)?.[1])).toEqual(['68.4 KiB', '3 MiB', '1.5 MiB']);
});

const refusalOf = (text: string): string => {
  try {
    checkLines('ignoreFile', '.airflowignore', text);
    return 'accepted';
  } catch (error) {
    const { file, line, message, instead } = error as FileLimitError;
    expect(error).toBeInstanceOf(FileLimitError);
    expect(instead).not.toBe('');
    return `${file}:${line} ${message}`;
  }
};

it('a line above its limit is refused with its number, also when it is the last one without a line break', () => {
  const most = 'x'.repeat(1_000);
  expect(refusalOf(`${most}\n${most}`)).toBe('accepted');
  for (const end of ['', '\n', '\ny'])
    expect(refusalOf(`a\n\n${most}y${end}`)).toBe(
      '.airflowignore:3 has a line of 1,001 characters, and the limit is 1,000',
    );
});

it('entries above their limit are refused, and empty lines and comments are no entries', () => {
  const entries = 'a\n'.repeat(1_000);
  expect(refusalOf(`\n \t\r\n# one\n  # two\n${entries}\n#`)).toBe('accepted');
  expect(refusalOf(`${entries}\n \tb#`)).toBe('.airflowignore:1002 has more than 1,000 entries, which is the limit');
});

it('a kind without limits of lines takes any line', () => {
  expect(() => checkLines('dagFile', 'dag.py', 'x'.repeat(100_000))).not.toThrow();
});

it('nesting above its limit names the limit of the kind', () => {
  expect(tooDeep('project', 'svc.yaml', 7)).toMatchObject({
    line: 7,
    message: 'is nested too deeply: lists and maps may be nested 50 levels deep',
  });
});
