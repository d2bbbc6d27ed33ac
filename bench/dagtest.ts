// Measures `dag.test()`: a new process that runs two tasks, and 100 tasks without work in a process that has run one
// DAG before. SVC_BENCH_PYTHON names the interpreter of an environment with the wheel; without it, the checkout is
// measured. `--only airflow` measures Airflow 3.2.2 with the same files.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import { CACHE, ROOT } from '@svc/testing/paths.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { median, rounded } from './figure.ts';
import type { BenchOptions } from './figure.ts';

const TASKS = 100;

const COLD = `
from airflow.sdk import dag, task

@dag(schedule=None)
def cold():
    @task
    def make(): return [1, 2]
    @task
    def take(values): return sum(values)
    take(make())

built = cold()
if __name__ == "__main__":
    assert built.test().state == "success"
`;

const WARM = `
import sys, time
from airflow.sdk import dag, task

@dag(schedule=None)
def first():
    @task
    def step(): ...
    step()

@dag(schedule=None)
def many():
    @task
    def step(): ...
    for number in range(${TASKS}):
        step.override(task_id=f"step_{number}")()

one, all_of_them = first(), many()
if __name__ == "__main__":
    assert one.test().state == "success"
    begin = time.perf_counter()
    run = all_of_them.test()
    seconds = time.perf_counter() - begin
    assert run.state == "success" and len(run.get_task_instances()) == ${TASKS}
    print(f"\\nseconds: {seconds}")
`;

type Subject = { readonly name: string; readonly python: string; readonly env: Record<string, string> };

async function subjectOf(only: string | undefined, folder: string): Promise<Subject> {
  const path = process.env['PATH'] ?? '';
  if (only === 'airflow') return airflow(folder, path);
  const given = process.env['SVC_BENCH_PYTHON'];
  if (given !== undefined) return { name: 'wheel', python: given, env: { PATH: path } };
  const env = { PATH: path, PYTHONPATH: join(ROOT, 'python') };
  return { name: 'checkout', python: await pythonEnvironment(), env };
}

/** Airflow takes a DAG only from its folder, and needs its database. */
async function airflow(folder: string, path: string): Promise<Subject> {
  await installAirflow();
  const python = join(CACHE, 'airflow-3.2.2', 'bin', 'python');
  const env = { PATH: path, AIRFLOW_HOME: folder, AIRFLOW__CORE__LOAD_EXAMPLES: 'False' };
  execFileSync(python, ['-m', 'airflow', 'db', 'migrate'], { env, stdio: ['ignore', 'ignore', 'ignore'] });
  return { name: 'airflow 3.2.2', python, env };
}

export async function run({ number, text, print, say }: BenchOptions): Promise<void> {
  const runs = number('runs', 5);
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-dagtest-'));
  try {
    const dags = join(folder, 'dags');
    mkdirSync(dags);
    writeFileSync(join(dags, 'cold.py'), COLD);
    writeFileSync(join(dags, 'warm.py'), WARM);
    const { name: subject, python, env } = await subjectOf(text('only'), folder);
    const start = (file: string): string =>
      execFileSync(python, [join(dags, file)], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    start('cold.py'); // writes bytecode
    const cold: number[] = [];
    const warm: number[] = [];
    for (let round = 1; round <= runs; round += 1) {
      const begin = performance.now();
      start('cold.py');
      cold.push((performance.now() - begin) / 1000);
      warm.push(Number(/seconds: ([\d.]+)/.exec(start('warm.py'))?.[1]));
      say(`${subject}, round ${round}: cold ${rounded(cold.at(-1) ?? 0)} s, warm ${rounded(warm.at(-1) ?? 0)} s`);
    }
    const shared = { bench: 'dagtest', unit: 's', subject, runs };
    print({ ...shared, figure: 'cold', value: rounded(median(cold), 3), tasks: 2 });
    print({ ...shared, figure: 'warm', value: rounded(median(warm), 3), tasks: TASKS });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
