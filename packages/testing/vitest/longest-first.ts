/**
 * The order of test files: those that take minutes begin first. Otherwise one of them begins last, and one worker runs it
 * while the others have nothing left to do. Vitest goes by the times of the run before, which a clean checkout does not have,
 * and then by the size of files, which says little about browsers.
 */
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Parts of paths, the longest first, as a run on two cores showed. */
const LONG = [
  'cli/lite/web-ui/pages',
  'spec/python',
  'cli/lite/web-ui/',
  'scripts/build-package',
  'cli/lite/backup/backup',
  'cli/lite/run-lite',
  'cli/build/build-image',
  'engine/airflow-states',
  'cli/lite/editor.',
  'testing/chaos/',
  'agent/environments',
  'scripts/build-base-images',
];

const rankOf = (path: string): number => {
  const rank = LONG.findIndex((part) => path.includes(part));
  return rank < 0 ? LONG.length : rank;
};

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    return others.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId));
  }
}
