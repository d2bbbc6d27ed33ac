/** The reporters of every test configuration. */
import type { Reporter } from 'vitest/node';
import { FailuresReporter } from './failures-reporter.ts';
import { FileCostsReporter } from './file-costs-reporter.ts';
import { NoSkipsReporter } from './no-skips-reporter.ts';
import { SlowWaitsReporter } from './slow-waits-reporter.ts';

/** In CI a skipped test fails the run. */
export const reporters = (tests: 'default' | 'verbose'): (string | Reporter)[] => [
  tests,
  new FailuresReporter(),
  new FileCostsReporter(),
  new SlowWaitsReporter(),
  ...(process.env['CI'] ? [new NoSkipsReporter()] : []),
];
