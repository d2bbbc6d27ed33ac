/** What needs a real cluster: `npm run test:kubernetes`, which brings one up around it. Never part of `npm test`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.kubernetes.test.ts', 'scripts/**/*.kubernetes.test.ts'],
    pool: 'forks',
    globalSetup: ['packages/testing/postgres/postgres-for-all-tests.ts'],
    setupFiles: ['packages/testing/vitest/seeds.ts'],
    // Pods start in seconds, and a dozen of them at once later.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 100 } },
    // They share a node, which has more to do than they.
    maxWorkers: 2,
    reporters: process.env['CI'] ? ['verbose', './packages/testing/vitest/no-skips-reporter.ts'] : ['verbose'],
  },
});
