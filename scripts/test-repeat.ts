/**
 * Are these tests stable? Runs files several times, with two busy loops next to them where wanted, and prints what became of each
 * file and the longest time it had to wait for something.
 *
 *   npm run test:repeat -- 20 --load packages/server/engine/scheduler.test.ts
 *   npm run test:repeat -- 3 --load            everything that `npm test` runs
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '@svc/testing/paths.ts';
import { WAITS_VARIABLE, readWaits } from '@svc/testing/slow-waits.ts';

const BUSY_LOOPS = 2;
/** Ends when its parent has: a killed run leaves nothing behind. */
const BUSY = 'const parent = process.ppid; while (process.ppid === parent) for (let n = 0; n < 1e7; n += 1);';

type Count = { passed: number; failed: number; longestMs: number };
type JsonReport = { testResults: { name: string; status: string }[] };

const { values, positionals } = parseArgs({ allowPositionals: true, options: { load: { type: 'boolean' } } });
const [times, ...files] = positionals;
const wanted = Number(times);
if (!Number.isInteger(wanted) || wanted < 1) {
  throw new Error('say how often: npm run test:repeat -- 20 [--load] [files]');
}

const counts = new Map<string, Count>();
const countOf = (file: string): Count => {
  const count = counts.get(file) ?? { passed: 0, failed: 0, longestMs: 0 };
  counts.set(file, count);
  return count;
};

const loops = Array.from({ length: values.load === true ? BUSY_LOOPS : 0 }, () =>
  spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }),
);
try {
  for (let time = 1; time <= wanted; time += 1) {
    process.stdout.write(`\nrun ${time} of ${wanted}\n`);
    await runOnce();
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
}
print();
if ([...counts.values()].some(({ failed }) => failed > 0)) process.exitCode = 1;

async function runOnce(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-repeat-'));
  try {
    const report = join(folder, 'report.json');
    const args = ['run', ...files, '--reporter', 'default', '--reporter', 'json', `--outputFile.json=${report}`];
    const child = spawn(join(ROOT, 'node_modules', '.bin', 'vitest'), args, {
      cwd: ROOT,
      env: { ...process.env, [WAITS_VARIABLE]: folder },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as JsonReport;
    if (testResults.length === 0) throw new Error(`no test file matches ${files.join(' ')}`);
    for (const { name, status } of testResults)
      countOf(relative(ROOT, name))[status === 'passed' ? 'passed' : 'failed'] += 1;
    for (const { file, ms } of readWaits(folder)) {
      const count = counts.get(file);
      if (count) count.longestMs = Math.max(count.longestMs, ms);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(): void {
  const rows = [...counts].sort(
    ([a, x], [b, y]) => y.failed - x.failed || y.longestMs - x.longestMs || (a < b ? -1 : 1),
  );
  const width = Math.max(...rows.map(([file]) => file.length), 'file'.length);
  process.stdout.write(`\n${'file'.padEnd(width)}  passed  failed  slowest wait\n`);
  for (const [file, { passed, failed, longestMs }] of rows) {
    const wait = longestMs === 0 ? '< 0.1 s' : `${(longestMs / 1_000).toFixed(1)} s`;
    const line = [file.padEnd(width), String(passed).padStart(6), String(failed).padStart(6), wait.padStart(12)];
    process.stdout.write(`${line.join('  ')}\n`);
  }
}
