import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSecretKey } from '@svc/server/config/secret-key.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { adminPasswordFile, makePassword, readOrMakeSecrets } from './generated-secrets.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('the secrets lite makes for itself', () => {
  it('stay the same from start to start, are usable, and are for their owner only', () => {
    const first = readOrMakeSecrets(directory);
    expect(readOrMakeSecrets(directory)).toEqual(first);
    expect(parseSecretKey(first.secretKey).ok).toBe(true);
    expect(first.jwtSecret.length).toBeGreaterThanOrEqual(32);
    const modes = readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
  });

  it('are closed again when somebody opened the file to others', () => {
    readOrMakeSecrets(directory);
    const file = adminPasswordFile(directory);
    chmodSync(file, 0o644);
    readOrMakeSecrets(directory);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('are never replaced silently: an emptied file is an error, since what it encrypted would be lost', () => {
    readOrMakeSecrets(directory);
    writeFileSync(join(directory, 'secret-key'), '\n');
    expect(() => readOrMakeSecrets(directory)).toThrow(/secret-key is gone/);
  });

  it('include a password that can be typed and is another one every time', () => {
    const passwords = Array.from({ length: 200 }, makePassword);
    expect(passwords.every((password) => /^([a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/.test(password))).toBe(true);
    expect(new Set(passwords).size).toBe(200);
  });
});
