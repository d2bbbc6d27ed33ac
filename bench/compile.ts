// Measures how fast DAG files compile, and how much memory and processor time this takes.
//
// cold: one new process per file, as `svc compile` on one project does; target 250 ms.
// warm: 500 files through one long-lived process that forks a child per file; target 10 s on two cores.
// small: 1,000 and 2,000 small files as `svc compile` finds and compiles them; target 8 ms a file on two cores. Then once
// more, unchanged, so that the answers come from the cache.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';
import { cpuSecondsOfTree } from './process-usage.ts';

const PYTHON = join(import.meta.dirname, '..', 'python');
const DAGS = join(PYTHON, 'tests', 'dags');
const COLD_RUNS = 15;
const WARM_FILES = 500;
const SMALL_WORKSPACES = [1_000, 2_000];

const percentile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);

/** Bytecode is cached, as on any machine that has compiled before. */
function cold({ print }: BenchOptions, python: string, file: string): void {
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
  const figure = { bench: 'compile', unit: 'ms', file, runs: COLD_RUNS };
  print({ ...figure, figure: 'cold_p50', value: percentile(times, 0.5) });
  print({ ...figure, figure: 'cold_p95', value: percentile(times, 0.95) });
}

/**
 * Returns the resident bytes of the compiler and of the files that it executes now. Shared pages count once per
 * process.
 */
function memoryOfChildren(): number {
  const text = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' });
  const processes = text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const family = new Set([process.pid]);
  for (const [pid = 0, parent = 0] of processes) if (family.has(parent)) family.add(pid);
  return processes.reduce(
    (sum, [pid = 0, , rss = 0]) => (family.has(pid) && pid !== process.pid ? sum + rss * 1024 : sum),
    0,
  );
}

async function warm({ print }: BenchOptions, python: string, folder: string): Promise<void> {
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
  const jobs = Math.min(2, availableParallelism());
  const compiler = createCompiler({ python, jobs });
  const started = performance.now();
  let peak = 0;
  const watching = setInterval(() => (peak = Math.max(peak, memoryOfChildren())), 100);
  const answers = await Promise.all(files.map((path) => compiler.compile({ path, dagsFolder: folder })));
  const seconds = (performance.now() - started) / 1_000;
  clearInterval(watching);
  await compiler.close();
  const broken = answers.filter((answer) => !answer.ok).length;
  if (broken > 0)
    throw new Error(`${broken} of ${files.length} files did not compile: the figure would be of something else`);
  const specs = answers.flatMap((answer) => answer.dags.map((dag) => Buffer.byteLength(JSON.stringify(dag.spec))));
  const figure = { bench: 'compile', files: files.length, dags: specs.length, jobs };
  print({ ...figure, figure: 'warm_workspace', value: rounded(seconds), unit: 's' });
  print({ ...figure, figure: 'spec_size_median', value: median(specs), unit: 'bytes' });
  print({ ...figure, figure: 'spec_size_largest', value: Math.max(...specs), unit: 'bytes' });
  print({ ...figure, figure: 'compiler_memory_peak', value: rounded(peak / 1024 / 1024), unit: 'MiB' });
}

const smallFile = (index: number): string => `from datetime import datetime

from airflow.sdk import DAG, task

with DAG("small_${index}", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False, tags=["small"]):

    @task
    def extract():
        return [${index}]

    @task
    def load(rows):
        print(rows)

    load(extract())
`;

async function small({ print }: BenchOptions, python: string, folder: string, files: number): Promise<void> {
  mkdirSync(folder);
  for (let index = 0; index < files; index += 1) writeFileSync(join(folder, `dag_${index}.py`), smallFile(index));
  const jobs = Math.min(2, availableParallelism());
  const cacheFolder = `${folder}-cache`;
  for (const name of ['small_file', 'small_file_again']) {
    const compiler = createCompiler({ python, jobs, cacheFolder });
    const cpu = cpuSecondsOfTree(process.pid);
    const started = performance.now();
    const units = await compileWorkspace({ workspace: folder, compiler });
    const milliseconds = performance.now() - started;
    // Read while the compiler runs, because its figures include those of its ended children.
    const used = (cpuSecondsOfTree(process.pid) - cpu) * 1_000;
    await compiler.close();
    const broken = units.filter(({ ok }) => !ok).length;
    if (broken > 0) throw new Error(`${broken} of ${files} small files did not compile`);
    const figure = { bench: 'compile', files, jobs, unit: 'ms' };
    print({ ...figure, figure: name, value: rounded(milliseconds / files) });
    print({ ...figure, figure: `${name}_cpu`, value: rounded(used / files) });
  }
}

export async function run(options: BenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    const python = await pythonEnvironment();
    const only = options.text('only');
    for (const files of only === 'warm' ? [] : SMALL_WORKSPACES)
      await small(options, python, join(folder, `small-${files}`), files);
    if (only === 'small') return;
    for (const file of ['dag_object.py', 'real_sales_etl.py', 'schedule_forms.py']) cold(options, python, file);
    await warm(options, python, join(folder, 'dags'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
