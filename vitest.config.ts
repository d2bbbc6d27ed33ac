import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { TEST_ARGUMENTS } from './packages/testing/node-arguments.ts';
import { forgetOldCode } from './packages/testing/vitest/compile-cache.ts';
import { LongFilesFirst } from './packages/testing/vitest/long-files-first.ts';
import { reporters } from './packages/testing/vitest/reporters.ts';
import { testFilesByTier } from './packages/testing/vitest/tiers.ts';

forgetOldCode();
const files = testFilesByTier();
const cores = availableParallelism();

const POSTGRES = 'packages/testing/postgres/postgres-for-all-tests.ts';
const IN_MEMORY = 'packages/testing/vitest/files-in-memory.ts';
const FILE_COSTS = 'packages/testing/vitest/file-costs.ts';
const SEEDS = 'packages/testing/vitest/seeds.ts';
const DECLARED_ANSWERS = 'packages/testing/vitest/declared-answers.ts';
const NOTHING_LEFT = 'packages/testing/vitest/nothing-left.ts';
const NO_OUTSIDE_WORLD = 'packages/testing/vitest/no-outside-world.ts';

// VITEST_MAX_WORKERS overrides both numbers.
const COMPUTING = cores;
// Such files wait for processes, pages and Postgres: with 1.5 per core, 1,595 s of CPU kept two cores busy for 77% of 1,038 s.
const WAITING = cores * 2;

export default defineConfig({
  test: {
    pool: 'forks',
    execArgv: TEST_ARGUMENTS,
    // Node runs the files as they are; made by Vite for each worker, they cost half as much again.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // These limits end a test that hangs. On a busy machine a test takes many times as long as on an idle one.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    // What is polled for comes about sooner or later; a second is not enough on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongFilesFirst },
    reporters: reporters('default'),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: files.unit,
          setupFiles: [FILE_COSTS, SEEDS, NO_OUTSIDE_WORLD],
          provide: { tier: 'unit' },
          isolate: false, // 28 s of CPU instead of 60: what the files import is most of their time
          maxWorkers: COMPUTING,
          sequence: { groupOrder: 0 }, // a mistake that seconds can show is shown first
        },
      },
      {
        extends: true,
        test: {
          name: 'db',
          include: files.db,
          globalSetup: [IN_MEMORY, POSTGRES],
          setupFiles: [FILE_COSTS, SEEDS, DECLARED_ANSWERS, NO_OUTSIDE_WORLD],
          provide: { tier: 'db' },
          isolate: false,
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: files.system,
          globalSetup: [IN_MEMORY, POSTGRES],
          setupFiles: [FILE_COSTS, SEEDS, DECLARED_ANSWERS, NOTHING_LEFT],
          isolate: false, // as above: a process of its own costs each file 1 s
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: files.alone,
          globalSetup: [IN_MEMORY, POSTGRES],
          setupFiles: [FILE_COSTS, SEEDS, DECLARED_ANSWERS],
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
