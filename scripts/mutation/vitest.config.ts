/** One process after another with Node's own imports, so that mutants are loaded where the product's modules would be. */
import { defineConfig } from 'vitest/config';
import { QuickFilesFirst } from './quick-files-first.ts';

export default defineConfig({
  test: {
    pool: 'forks',
    execArgv: ['--disable-warning=ExperimentalWarning', '--import', new URL('switches.ts', import.meta.url).href],
    experimental: { viteModuleRunner: false, nodeLoader: false },
    runner: new URL('mutant-runner.ts', import.meta.url).pathname,
    setupFiles: [
      new URL('../../packages/testing/vitest/seeds.ts', import.meta.url).pathname,
      new URL('no-shrinking.ts', import.meta.url).pathname,
    ],
    provide: { tier: 'unit' },
    isolate: false,
    sequence: { sequencer: QuickFilesFirst },
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
    include: ['packages/**/*.test.ts', 'scripts/**/*.test.ts'],
    dangerouslyIgnoreUnhandledErrors: true,
  },
});
