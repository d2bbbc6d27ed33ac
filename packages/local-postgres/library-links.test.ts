import { execFileSync } from 'node:child_process';
import { cp, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runnableBinaries } from './cluster-binaries.ts';
import { addMissingLinks } from './library-links.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-library-links-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const versionOf = (initdb: string): string => execFileSync(initdb, ['--version'], { encoding: 'utf8', stdio: 'pipe' });

describe('Postgres that was installed without running install scripts', () => {
  it('gets the other names of its libraries, whoever of several comes first', async () => {
    const packaged = await runnableBinaries(undefined);
    const native = join(directory, 'native');
    await cp(dirname(dirname(packaged.postgres)), native, {
      recursive: true,
      filter: async (source) => !(await lstat(source)).isSymbolicLink(),
    });
    const bare = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
    expect(() => versionOf(bare.initdb), 'does not run as it is').toThrow(/initdb/);

    const found = await Promise.all([runnableBinaries(undefined, bare), runnableBinaries(undefined, bare)]);
    expect(found).toEqual([bare, bare]);
    expect(versionOf(bare.initdb)).toMatch(/PostgreSQL/);
  });

  it('is said to lack libraries where nothing can be added', async () => {
    const folder = join(directory, 'unusable');
    await mkdir(folder);
    await writeFile(join(folder, 'lib'), 'not a directory');
    const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
    await writeFile(join(folder, 'pg-symlinks.json'), JSON.stringify(links));
    expect(await addMissingLinks(folder)).toBe(false);
  });
});
