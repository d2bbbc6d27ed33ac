import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { checkLogFolder } from './check-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-log-folder-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const messages = (env: Record<string, string>): string[] =>
  checkLogFolder(loadConfig({ env }).config).map(({ message }) => message);

describe('the folder of the logs', () => {
  test('may be missing where it can be made', () => {
    expect(messages({ SVC_LOGS_DIR: folder })).toEqual([]);
    expect(messages({ SVC_LOGS_DIR: at('a/b/c') })).toEqual([]);
  });

  test('that cannot be used stops the boot, with what to set', () => {
    writeFileSync(at('file'), '');
    const words = 'set it to a folder that this user can write to';
    expect(messages({ SVC_LOGS_DIR: at('file') })).toEqual([
      `logs.dir (SVC_LOGS_DIR) is ${at('file')}, which is not a folder; ${words}`,
    ]);
    expect(messages({ SVC_LOGS_DIR: at('file/logs') })).toEqual([
      `logs.dir (SVC_LOGS_DIR) is ${at('file/logs')}, which cannot be written to (ENOTDIR); ${words}`,
    ]);
  });

  test('is not looked at when logs are kept elsewhere', () => {
    expect(messages({ SVC_LOGS_DIR: at('file'), SVC_LOGS_BACKEND: 'objstore' })).toEqual([]);
  });
});
