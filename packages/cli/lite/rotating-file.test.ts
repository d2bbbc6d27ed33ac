import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRotatingFile } from './rotating-file.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a log file', () => {
  it('begins anew when full and keeps the one before, also across restarts', () => {
    const file = join(directory, 'svc.log');
    for (const text of ['one\n', 'two\n', 'three\n']) {
      const log = openRotatingFile(file, 10);
      log.write(text);
      log.close();
    }
    expect(readFileSync(file, 'utf8')).toBe('three\n');
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('one\ntwo\n');
  });

  it('that cannot be written to loses lines, but does not stop the program', () => {
    const log = openRotatingFile(join(directory, 'svc.log'));
    log.close();
    expect(() => log.write('lost\n')).not.toThrow();
  });
});
