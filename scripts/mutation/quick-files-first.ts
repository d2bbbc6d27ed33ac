import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Tests with many inputs take long, and most mutants are found without them: they come last, the small files first. */
const isLate = ({ moduleId }: TestSpecification): number => (/property|golden/.test(moduleId) ? 1 : 0);

export class QuickFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => isLate(a) - isLate(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}
