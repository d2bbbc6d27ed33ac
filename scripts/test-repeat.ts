/**
 * Are these tests stable? Runs files several times, with two busy loops next to them where wanted, and prints what became of each
 * file and the longest time it had to wait for something.
 *
 *   npm run test:repeat -- 20 --load packages/server/engine/scheduler.test.ts
 *   npm run test:repeat -- 3 --load            everything that `npm test` runs
 *   npm run test:repeat -- 3 --jitter 7 packages/cli     with random delays: seed 7, then 8, then 9
 *
 * The long delays of a run are in test-output/jitter/<seed>, a file for each process.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { JITTER_LOG_VARIABLE, JITTER_VARIABLE } from '@svc/testing/node-arguments.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { WAITS_VARIABLE, readWaits } from '@svc/testing/slow-waits.ts';

const BUSY_LOOPS = 2;
/** A test has to wait for what comes late. The sum of many delays proves nothing. */
const PATIENCE = ['--testTimeout', '300000', '--hookTimeout', '300000'];
/** Ends when its parent has: a killed run leaves nothing behind. */
const BUSY = 'const parent = process.ppid; while (process.ppid === parent) for (let n = 0; n < 1e7; n += 1);';

type Count = { passed: number; failed: number; longestMs: number };
type JsonReport = { testResults: { name: string; status: string }[] };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { load: { type: 'boolean' }, jitter: { type: 'string' } },
});
const [times, ...files] = positionals;
const wanted = Number(times);
if (!Number.isInteger(wanted) || wanted < 1) {
  throw new Error('say how often: npm run test:repeat -- 20 [--load] [--jitter <number>] [files]');
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
    await runOnce(time);
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL');
}
print();
if ([...counts.values()].some(({ failed }) => failed > 0)) process.exitCode = 1;

/** For run number `time`. Each run has a seed of its own, so that repeating finds more. */
function jitterVariables(time: number): Record<string, string> {
  if (values.jitter === undefined) return {};
  const seed = Number(values.jitter) + time - 1;
  if (!Number.isInteger(seed)) throw new Error('--jitter takes a whole number, which is the seed of the first run');
  const folder = join(ROOT, 'test-output', 'jitter', String(seed));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return { [JITTER_VARIABLE]: String(seed), [JITTER_LOG_VARIABLE]: folder };
}

async function runOnce(time: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-repeat-'));
  try {
    const report = join(folder, 'report.json');
    const reports = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${report}`];
    const args = ['run', ...files, ...reports, ...(values.jitter === undefined ? [] : PATIENCE)];
    const child = spawn(join(ROOT, 'node_modules', '.bin', 'vitest'), args, {
      cwd: ROOT,
      env: { ...process.env, ...jitterVariables(time), [WAITS_VARIABLE]: folder },
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
