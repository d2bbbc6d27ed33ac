/**
 * What needs a real cluster: `npm run test:kubernetes`, which brings one up around it. Never part of `npm test`.
 * With NIGHTLY=1 only the files that take minutes each (*.nightly.kubernetes.test.ts), which ordinary runs leave out.
 */
import { defineConfig } from 'vitest/config';
import { reporters } from './packages/testing/vitest/reporters.ts';

const isNightly = process.env['NIGHTLY'] === '1';
const NIGHTLY = '**/*.nightly.kubernetes.test.ts';
const FILES = isNightly
  ? ['packages/**/*.nightly.kubernetes.test.ts', 'scripts/**/*.nightly.kubernetes.test.ts']
  : ['packages/**/*.kubernetes.test.ts', 'scripts/**/*.kubernetes.test.ts'];
/** Files that kill parts of the cluster. Each runs by itself, because it disturbs all others. */
const BREAKING = ['chaos', 'cluster', 'node-loss', 'warm-chaos'].map(
  (name) => `packages/testing/kubernetes/${name}${isNightly ? '.nightly' : ''}.kubernetes.test.ts`,
);

const EACH = {
  globalSetup: ['packages/testing/postgres/postgres-for-all-tests.ts'],
  setupFiles: ['packages/testing/vitest/file-costs.ts', 'packages/testing/vitest/seeds.ts'],
};

export default defineConfig({
  test: {
    pool: 'forks',
    // Pods start in seconds, a dozen of them at once later, and all of them much later on a busy machine.
    testTimeout: 400_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 150_000, interval: 100 } },
    reporters: reporters('verbose'),
    projects: [
      {
        extends: true,
        test: {
          ...EACH,
          name: 'works',
          include: FILES,
          exclude: ['**/node_modules/**', ...BREAKING, ...(isNightly ? [] : [NIGHTLY])],
          // They wait for pods most of the time.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { ...EACH, name: 'breaks', include: BREAKING, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
