// How fast DAG files compile. Prints one JSON line per figure.
//
//   node bench/compile.ts
//
// cold: one new process per file, as `svc compile` on one project does; target 250 ms.
// warm: 500 files through one long-lived process that forks a child per file; target 10 s on two cores.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompiler } from '../packages/spec/compiler/compiler.ts';
import { pythonEnvironment } from '../scripts/python-env.ts';

const PYTHON = join(import.meta.dirname, '..', 'python');
const DAGS = join(PYTHON, 'tests', 'dags');
const COLD_RUNS = 15;
const WARM_FILES = 500;

const print = (figure: Record<string, unknown>): void => {
  process.stdout.write(`${JSON.stringify(figure)}\n`);
};

const percentile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);

/** Bytecode is kept, as on any machine that has compiled once before. */
function cold(python: string, file: string): void {
  const { PYTHONDONTWRITEBYTECODE: _, PYTHONPYCACHEPREFIX: __, ...inherited } = process.env;
  const env = { ...inherited, PYTHONPATH: PYTHON, PYTHONHASHSEED: '0' };
  const times: number[] = [];
  for (let run = 0; run <= COLD_RUNS; run += 1) {
    const started = performance.now();
    execFileSync(python, ['-m', 'svc_runtime.compile_server', '--once', join(DAGS, file), DAGS], {
      env,
      maxBuffer: 1 << 26,
    });
    // The first run fills the bytecode cache.
    if (run > 0) times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  print({
    bench: 'compile_cold',
    file,
    p50_ms: percentile(times, 0.5),
    p95_ms: percentile(times, 0.95),
    target_ms: 250,
  });
}

async function warm(python: string, folder: string): Promise<void> {
  const sources = readdirSync(DAGS).filter((name) => name.endsWith('.py'));
  mkdirSync(join(folder, 'templates'), { recursive: true });
  copyFileSync(join(DAGS, 'templates', 'script.sh'), join(folder, 'templates', 'script.sh'));
  copyFileSync(join(DAGS, 'factory_helper.py'), join(folder, 'factory_helper.py'));
  const files = Array.from({ length: WARM_FILES }, (_, index) => {
    const source = sources[index % sources.length] ?? '';
    const target = join(folder, `${index}_${source}`);
    copyFileSync(join(DAGS, source), target);
    return target;
  });
  const compiler = createCompiler({ python, jobs: Math.min(2, availableParallelism()) });
  const started = performance.now();
  const answers = await Promise.all(files.map((path) => compiler.compile({ path, dagsFolder: folder })));
  const seconds = (performance.now() - started) / 1_000;
  await compiler.close();
  const failed = answers.filter((answer) => !answer.ok).length;
  const dags = answers.reduce((sum, answer) => sum + answer.dags.length, 0);
  print({
    bench: 'compile_warm',
    files: files.length,
    dags,
    failed,
    seconds: Math.round(seconds * 100) / 100,
    target_seconds: 10,
  });
}

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  const python = await pythonEnvironment();
  for (const file of ['dag_object.py', 'real_sales_etl.py', 'schedule_forms.py']) cold(python, file);
  await warm(python, join(folder, 'dags'));
} finally {
  rmSync(folder, { recursive: true });
}
