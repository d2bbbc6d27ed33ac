/**
 * What takes minutes and looks for rare things: `npm run test:nightly`. Each file names the short test that covers the same
 * hazard in `npm test`; CONTRIBUTING.md has the list with the reasons.
 */
import { defineConfig } from 'vitest/config';
import { reporters } from './packages/testing/vitest/reporters.ts';

/** They run in `npm test` or `npm run test:services`, too, and do more where NIGHTLY=1 (packages/testing/nightly.ts). */
const DO_MORE = [
  'packages/cli/build/build-image.test.ts',
  'packages/cli/lite/web-ui/pages.test.ts',
  'packages/mcp/real-tasks.test.ts',
  'packages/server/alerts/killed-sender.test.ts',
  'packages/server/api/airflow-client.test.ts',
  'packages/server/api/schemathesis.services.test.ts',
  'packages/server/api/security/authorization-matrix.test.ts',
  'packages/server/api/security/event-loop.test.ts',
  'packages/server/delivery/bundles.test.ts',
  'packages/server/delivery/code-archives.test.ts',
  'packages/server/engine/airflow-states.test.ts',
  'packages/server/engine/crash-walk.test.ts',
  'packages/spec/python.test.ts',
  'packages/testing/airflow/example-states.services.test.ts',
  'packages/testing/chaos/load.test.ts',
  'packages/testing/chaos/runs.test.ts',
  'packages/testing/chaos/sign-ins.test.ts',
  'packages/testing/differential/differential.test.ts',
  'packages/testing/layouts/layouts.test.ts',
  'packages/testing/provider-examples/provider-examples.services.test.ts',
];

export default defineConfig({
  test: {
    include: ['packages/**/*.nightly.test.ts', 'scripts/**/*.nightly.test.ts', ...DO_MORE],
    pool: 'forks',
    globalSetup: ['packages/testing/postgres/postgres-for-all-tests.ts'],
    setupFiles: [
      'packages/testing/vitest/file-costs.ts',
      'packages/testing/vitest/seeds.ts',
      'packages/testing/vitest/declared-answers.ts',
    ],
    testTimeout: 1_800_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 2,
    reporters: reporters('verbose'),
  },
});
