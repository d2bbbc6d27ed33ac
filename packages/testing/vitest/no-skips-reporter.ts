import type { Reporter, TestModule } from 'vitest/node';

/** In CI a skipped test fails the run: a test that does not run proves nothing, and nobody would notice. */
export class NoSkipsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => `${module.moduleId} > ${test.fullName}`),
    );
    if (skipped.length === 0) return;
    process.stderr.write(`\n${skipped.length} skipped test(s), which CI does not accept:\n  ${skipped.join('\n  ')}\n`);
    process.exitCode = 1;
  }
}
