/**
 * The order of test files. Vitest begins with the largest files where it has no times of an earlier run, as in a fresh
 * clone; a small file that takes two minutes then begins last, and the other workers wait for it with nothing to do.
 *
 * Files of a project follow each other. A worker ends when the next file is of another project, and the next worker
 * imports the product again, which costs 4 s of processor time.
 */
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** More than 45 s on two busy cores, the longest first (test-output/file-costs.json has the seconds of the last run). */
export const LONG_FILES = [
  'packages/server/api/security/event-loop.test.ts',
  'packages/cli/lite/web-ui/pages.test.ts',
  'packages/cli/lite/web-ui/runs.test.ts',
  'packages/server/engine/airflow-states.test.ts',
  'packages/testing/chaos/runs.test.ts',
  'packages/spec/python.test.ts',
  'scripts/build-package.test.ts',
  'packages/cli/build/build-image.test.ts',
  'packages/cli/lite/run-lite.test.ts',
  'packages/cli/build/own-images.test.ts',
  'packages/server/api/security/authorization-matrix.test.ts',
  'packages/server/api/airflow-client.test.ts',
  'packages/testing/chaos/processes.test.ts',
  'packages/cli/lite/backup/backup.test.ts',
  'packages/agent/environments.test.ts',
  'packages/cli/commands/deploy-image.test.ts',
  'packages/server/api/logs/logs-large.test.ts',
  'packages/cli/lite/editor.test.ts',
  'packages/mcp/transports/stdio.test.ts',
  'packages/testing/ends-with-this-process.test.ts',
  'packages/cli/runs/trigger-deployed.test.ts',
  'packages/cli/lite/stop.test.ts',
  'packages/testing/chaos/bad-line.test.ts',
  'packages/server/logs/objects/faults.test.ts',
];

/** Of `npm run test:services`, the longest first. */
export const LONG_SERVICES = [
  'packages/testing/provider-examples/provider-examples.services.test.ts',
  'packages/testing/airflow/example-states.services.test.ts',
  'packages/server/api/schemathesis.services.test.ts',
  'packages/testing/providers/providers.services.test.ts',
  'packages/testing/dbt/dbt-projects.services.test.ts',
  'packages/cli/migrate/real-airflow.services.test.ts',
];

const ORDER = [...LONG_FILES, ...LONG_SERVICES];

const place = ({ moduleId }: TestSpecification): number => {
  const index = ORDER.findIndex((file) => moduleId.endsWith(`/${file}`));
  return index === -1 ? ORDER.length : index;
};

/** The project with the longest files begins, and the one whose last files are short ends. */
const PROJECTS = ['unit', 'alone', 'system', 'db'];
const projectOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => projectOf(a) - projectOf(b) || place(a) - place(b));
  }
}
