import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FILE_LIMITS, FileLimitError } from './limits.ts';
import { READING, readBytes, readTextFile, textIfReadable } from './read-text.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-read-text-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const written = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const codeOf = (path: string): unknown => {
  try {
    return readBytes('dagFile', path, 'dag.py');
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

it('a file is read whole, in the encoding that the caller names', () => {
  const path = written('latin.py', Buffer.from([0x61, 0xe4, 0x0a]));
  expect(readTextFile('dagFile', path, 'latin.py', 'latin1')).toBe('aä\n');
  expect(readTextFile('dagFile', written('empty.py', ''), 'empty.py')).toBe('');
  expect(readBytes('dagFile', written('long.py', 'x'.repeat(200_000)), 'long.py')).toHaveLength(200_000);
});

it('a file of exactly its limit is read, and one byte more is refused before anything is read', () => {
  const { bytes } = FILE_LIMITS.project;
  expect(readTextFile('project', written('full', 'x'.repeat(bytes)), 'full')).toHaveLength(bytes);
  const larger = written('larger', 'x'.repeat(bytes + 1));
  expect(() => readBytes('project', larger, 'larger')).toThrow(FileLimitError);
  expect(() => textIfReadable('project', larger, 'larger')).toThrow('is too large');
});

it('a directory and a device are refused with the code of the reason, because reading a device may never end', () => {
  mkdirSync(join(folder, 'directory'), { recursive: true });
  expect(codeOf(join(folder, 'directory'))).toBe('EISDIR');
  expect(codeOf('/dev/null')).toBe('EINVAL');
  expect(codeOf(join(folder, 'nowhere'))).toBe('ENOENT');
});

it('a file that cannot be read counts as missing where the caller allows that', () => {
  expect(textIfReadable('dagFile', join(folder, 'nowhere'), 'nowhere')).toBeUndefined();
  expect(textIfReadable('dagFile', written('there.py', 'a = 1\n'), 'there.py')).toBe('a = 1\n');
});

it('the path is published before the file is read, so that a stopped reader can be explained', () => {
  const seen: unknown[] = [];
  const listen = (message: unknown): void => void seen.push(message);
  READING.subscribe(listen);
  const path = join(folder, 'nowhere');
  textIfReadable('dagFile', path, 'nowhere');
  READING.unsubscribe(listen);
  expect(seen).toEqual([{ path }]);
});

it('lines of a file are checked when it is read', () => {
  const path = written('.airflowignore', `${'x'.repeat(FILE_LIMITS.ignoreFile.lineCharacters + 1)}\n`);
  expect(() => readTextFile('ignoreFile', path, '.airflowignore')).toThrow('has a line of 1,001 characters');
});
