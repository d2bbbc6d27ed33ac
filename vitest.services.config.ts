/**
 * What needs servers or packages that take minutes to prepare (Keycloak, Vault, an emulator of Google's store, providers from
 * PyPI), or searches for minutes (Schemathesis): `npm run test:services`. Never part of `npm test`, which tests the same code
 * against servers that start in a moment. CI runs both.
 */
import { defineConfig } from 'vitest/config';
import { TEST_ARGUMENTS } from './packages/testing/node-arguments.ts';
import { LongFilesFirst } from './packages/testing/vitest/long-files-first.ts';
import { reporters } from './packages/testing/vitest/reporters.ts';

export default defineConfig({
  test: {
    include: ['packages/**/*.services.test.ts', 'scripts/**/*.services.test.ts'],
    pool: 'forks',
    // As in vitest.config.ts: Node runs the files as they are, and keeps their compiled code.
    execArgv: TEST_ARGUMENTS,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    globalSetup: ['packages/testing/postgres/postgres-for-all-tests.ts'],
    setupFiles: [
      'packages/testing/vitest/file-costs.ts',
      'packages/testing/vitest/seeds.ts',
      'packages/testing/vitest/declared-answers.ts',
    ],
    testTimeout: 300_000,
    hookTimeout: 900_000, // the first run compiles or downloads them
    expect: { poll: { timeout: 120_000 } },
    sequence: { sequencer: LongFilesFirst },
    maxWorkers: 2, // each waits for servers and Python processes for much of its time
    reporters: reporters('verbose'),
  },
});
