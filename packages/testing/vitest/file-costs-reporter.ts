/** Prints the slowest test files of each tier, and keeps the costs of all files in test-output/file-costs.json. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { ROOT } from '../paths.ts';

const SHOWN = 5;
const OUTPUT = join(ROOT, 'test-output');

export type FileCosts = { tier: string; file: string; seconds: number; processorSeconds: number };

export class FileCostsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    // Someone who tries a few files keeps the figures of the whole.
    if (modules.length <= SHOWN) return;
    const files = modules.map(costsOf).sort((a, b) => b.seconds - a.seconds);
    mkdirSync(OUTPUT, { recursive: true });
    writeFileSync(join(OUTPUT, 'file-costs.json'), `${JSON.stringify(files, undefined, 1)}\n`);
    process.stdout.write(slowestFiles(files));
  }
}

function costsOf(module: TestModule): FileCosts {
  const { collectDuration, duration, setupDuration } = module.diagnostic();
  return {
    tier: module.project.name,
    file: relative(ROOT, module.moduleId),
    seconds: (collectDuration + duration + setupDuration) / 1_000,
    processorSeconds: module.meta().processorSeconds ?? 0,
  };
}

/** `files` come with the slowest first. */
export function slowestFiles(files: readonly FileCosts[]): string {
  const lines = [...new Set(files.map(({ tier }) => tier))].flatMap((tier) => {
    const ofTier = files.filter((file) => file.tier === tier);
    const total = ofTier.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
    const title = `\nSlowest files of ${tier || 'this run'} (${ofTier.length} files, ${Math.round(total)} s of processor time)`;
    const rows = ofTier
      .slice(0, SHOWN)
      .map(
        ({ file, seconds, processorSeconds }) =>
          `  ${column(seconds)} s  ${column(processorSeconds)} s of processor  ${file}`,
      );
    return [title, ...rows];
  });
  return `${lines.join('\n')}\n`;
}

const column = (seconds: number): string => seconds.toFixed(1).padStart(7);
