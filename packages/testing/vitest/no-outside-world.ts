/**
 * Set-up of the tiers that start no processes: a test that starts one all the same, through the product, fails where it
 * does so. Otherwise the quick tier would slowly fill with what needs Python, a browser or minutes.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { expect, inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    tier: 'unit' | 'db';
  }
}

/** What a cluster of Postgres consists of, and what its harness asks the system. */
const OF_POSTGRES = new Set(['cp', 'initdb', 'postgres', 'ps', 'sh', 'useradd']);

type Start = (file: string, ...rest: unknown[]) => unknown;
const starts = childProcess as unknown as Record<string, Start>;

for (const name of ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync']) {
  const start = starts[name] as Start;
  starts[name] = (file, ...rest) => {
    if (inject('tier') === 'db' && OF_POSTGRES.has(basename(file))) return start(file, ...rest);
    throw new Error(
      `${expect.getState().testPath ?? 'a test'} started the process ${file}, which tests of the ${inject('tier')} tier do not: ` +
        'import what starts it from packages/testing, or node:child_process, and it is in the system tier (packages/testing/vitest/tiers.ts)',
    );
  };
}
syncBuiltinESMExports();
