/**
 * Keeps what failed in test-output/failures.txt: `.ci/run` prints it again at its end, because the output of a whole run is long
 * and people often see only the last part of it.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { ROOT } from '../paths.ts';

const OUTPUT = join(ROOT, 'test-output');
const MAX_LINES = 12;

type Failure = { message: string; stack?: string | undefined };

export class FailuresReporter implements Reporter {
  onTestRunStart(): void {
    rmSync(join(OUTPUT, 'failures.txt'), { force: true });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Failure[]): void {
    const found = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map((error) => failure('outside of every test', [error])),
    ];
    if (found.length === 0) return;
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(join(OUTPUT, 'failures.txt'), `${found.join('\n')}\n`);
  }
}

function failuresOf(module: TestModule): string[] {
  const file = `${module.project.name}  ${relative(ROOT, module.moduleId)}`;
  const outside = [module, ...module.children.allSuites()].flatMap((part) => part.errors());
  return [
    ...(outside.length > 0 ? [failure(file, outside)] : []),
    ...[...module.children.allTests('failed')].map((test) =>
      failure(`${file} > ${test.fullName}`, test.result().errors ?? []),
    ),
    ...[...(process.env['CI'] ? module.children.allTests('skipped') : [])].map(
      (test) => `${file} > ${test.fullName}\n    was skipped, which CI does not accept`,
    ),
  ];
}

/** The title, and of each error what it says and the first place in our own code. */
export function failure(title: string, errors: readonly Failure[]): string {
  const lines = errors.flatMap(({ message, stack = '' }) => {
    const place = stack.split('\n').find((line) => line.includes('/packages/') && !line.includes('/node_modules/'));
    return [...message.split('\n').slice(0, MAX_LINES), ...(place === undefined ? [] : [place.trim()])];
  });
  return [title, ...lines.map((line) => `    ${line}`)].join('\n');
}
