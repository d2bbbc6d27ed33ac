import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['packages/testing/postgres/postgres-for-all-tests.ts'],
    // Every file has its own database and its own processes; two cores share them all.
    pool: 'forks',
    maxWorkers: 2, // most files wait more than they compute
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is polled for comes about sooner or later; a second is not enough on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // A skipped test is a hole nobody sees: CI turns each one into a failure.
    reporters: process.env['CI'] ? ['default', './packages/testing/vitest/no-skips-reporter.ts'] : ['default'],
  },
});
