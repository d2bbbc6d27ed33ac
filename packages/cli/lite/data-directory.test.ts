import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  dataDirectoryAt,
  defaultDataDirectory,
  prepareDataDirectory,
  refuseForeign,
  unusable,
} from './data-directory.ts';
import { explainFailure, isDiskFull } from './postgres.ts';

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'svc-data-'));
  chmodSync(parent, 0o755);
});

afterEach(() => rmSync(parent, { recursive: true, force: true }));

describe('the data directory', () => {
  it('is in the home of its user, in a system directory for root, or where SVC_HOME says', () => {
    expect(defaultDataDirectory({ env: {}, home: '/home/ana', isRoot: false })).toBe('/home/ana/.svc/lite');
    expect(defaultDataDirectory({ env: {}, home: '/root', isRoot: true })).toBe('/var/lib/svc/lite');
    expect(defaultDataDirectory({ env: { SVC_HOME: '/srv/svc' }, home: '/', isRoot: true })).toBe('/srv/svc/lite');
  });

  it('keeps others out, but for root lets Postgres pass', async () => {
    await prepareDataDirectory(join(parent, 'user'), false);
    await prepareDataDirectory(join(parent, 'root'), true);
    expect(statSync(join(parent, 'user')).mode & 0o777).toBe(0o700);
    expect(statSync(join(parent, 'root')).mode & 0o777).toBe(0o711);
    expect(statSync(join(parent, 'root', 'secrets')).mode & 0o777).toBe(0o700);
  });

  it('below a directory that only its owner may enter is refused for root, whose Postgres is another user', async () => {
    const closed = join(parent, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    await expect(prepareDataDirectory(join(closed, 'svc', 'lite'), true)).rejects.toThrow(`lies below ${closed}`);
    expect(readdirSync(closed)).toEqual([]);
  });

  it('with the cluster of another user is refused, naming that user', async () => {
    const directory = dataDirectoryAt(join(parent, 'foreign'));
    await expect(refuseForeign(directory, 12_345)).resolves.toBeUndefined(); // nothing there yet
    mkdirSync(directory.postgres, { recursive: true });
    await expect(refuseForeign(directory, 12_345)).rejects.toThrow(`belongs to the user "${userInfo().username}"`);
  });

  it('that is a file is refused in words', async () => {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    await expect(prepareDataDirectory(file, false)).rejects.toThrow('a file of that name is in the way');
    await expect(prepareDataDirectory(join(file, 'below'), false)).rejects.toThrow('a file of that name is in the way');
  });

  it.each([
    ['ENOSPC', 'the disk that holds /d is full'],
    ['EACCES', 'no permission to write to the data directory /d'],
    ['EROFS', '/d is on a read-only file system'],
  ])('that cannot be written to (%s) is reported in words', (code, message) => {
    expect(unusable('/d', Object.assign(new Error(code), { code })).message).toContain(message);
  });
});

describe('a full disk', () => {
  it.each([
    ['the system', Object.assign(new Error('write'), { code: 'ENOSPC' })],
    ['a quota', Object.assign(new Error('write'), { code: 'EDQUOT' })],
    ['Postgres, to a query', Object.assign(new Error('could not extend file'), { code: '53100' })],
    ['Postgres, in its log', new Error('PANIC:  could not write to file "x": No space left on device')],
    ['an error behind an error', new Error('not stored', { cause: Object.assign(new Error(''), { code: 'ENOSPC' }) })],
  ])('is known by what %s says', (_, error) => {
    expect(isDiskFull(error)).toBe(true);
    expect(explainFailure(error, dataDirectoryAt('/d')).message).toBe('the disk that holds /d is full');
  });

  it('is not taken for the reason of other errors', () => {
    expect(isDiskFull(new Error('connection refused'))).toBe(false);
    expect(isDiskFull(undefined)).toBe(false);
  });
});

describe('a Postgres that does not start', () => {
  const directory = dataDirectoryAt('/d');
  const failed = (output: string): Error => new Error(`Postgres did not start (exit 1):\n${output}`);

  it('because its data is of another major version names both versions and the way out', () => {
    const error = explainFailure(
      failed(
        'FATAL:  database files are incompatible with server\nDETAIL:  The data directory was initialized by PostgreSQL version 17, which is not compatible with this version 18.4.',
      ),
      directory,
    );
    expect(error.message).toContain('was written by Postgres 17, but this svc comes with 18.4');
    expect(error.hint).toContain('--data-dir');
  });

  it('because the disk is full says that the disk is full', () => {
    const error = explainFailure(failed('PANIC:  could not write to file "x": No space left on device'), directory);
    expect(error.message).toBe('the disk that holds /d is full');
  });

  it('for any other reason shows the one line that matters and where the rest is', () => {
    const error = explainFailure(failed('LOG:  starting\nFATAL:  invalid value for parameter'), directory);
    expect(error.message).toBe('Postgres does not start: FATAL:  invalid value for parameter');
    expect(error.hint).toBe('details: /d/postgres.log');
  });
});
