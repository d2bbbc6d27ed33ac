// Measures `dag.test()`: a new process that runs two tasks, and 100 tasks without work in a process that has run one
// DAG before. Airflow 3.3.2 runs the same files, interleaved. SVC_BENCH_PYTHON names the interpreter of an environment
// with the wheel; without it, the checkout is measured. `--only svc`, `--only airflow` and `--only airflow-3.2.2` measure
// one of them.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import { ROOT } from '@svc/testing/paths.ts';
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
type Measured = Subject & { cold: number[]; warm: number[] };

const PATH = process.env['PATH'] ?? '';

async function subjectsOf(only: string | undefined, folder: string): Promise<Subject[]> {
  if (only === 'svc') return [await ours()];
  if (only !== undefined) return [await airflow(only === 'airflow-3.2.2' ? '3.2.2' : '3.3.2', folder)];
  return [await ours(), await airflow('3.3.2', folder)];
}

async function ours(): Promise<Subject> {
  const given = process.env['SVC_BENCH_PYTHON'];
  if (given !== undefined) return { name: 'wheel', python: given, env: { PATH } };
  return { name: 'checkout', python: await pythonEnvironment(), env: { PATH, PYTHONPATH: join(ROOT, 'python') } };
}

/** Airflow takes a DAG only from its folder, and needs its database. */
async function airflow(version: '3.2.2' | '3.3.2', folder: string): Promise<Subject> {
  const python = await installAirflow(version);
  const env = { PATH, AIRFLOW_HOME: folder, AIRFLOW__CORE__LOAD_EXAMPLES: 'False' };
  execFileSync(python, ['-m', 'airflow', 'db', 'migrate'], { env, stdio: ['ignore', 'ignore', 'ignore'] });
  return { name: `airflow ${version}`, python, env };
}

export async function run({ number, text, print, say }: BenchOptions): Promise<void> {
  const runs = number('runs', 5);
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-dagtest-'));
  try {
    const dags = join(folder, 'dags');
    mkdirSync(dags);
    writeFileSync(join(dags, 'cold.py'), COLD);
    writeFileSync(join(dags, 'warm.py'), WARM);
    const start = ({ python, env }: Subject, file: string): string =>
      execFileSync(python, [join(dags, file)], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const subjects = (await subjectsOf(text('only'), folder)).map((one): Measured => ({ ...one, cold: [], warm: [] }));
    for (const subject of subjects) start(subject, 'cold.py'); // writes bytecode
    for (let round = 1; round <= runs; round += 1) {
      for (const subject of subjects) {
        const begin = performance.now();
        start(subject, 'cold.py');
        const cold = (performance.now() - begin) / 1000;
        const warm = Number(/seconds: ([\d.]+)/.exec(start(subject, 'warm.py'))?.[1]);
        subject.cold.push(cold);
        subject.warm.push(warm);
        say(`${subject.name}, round ${round}: cold ${rounded(cold)} s, warm ${rounded(warm)} s`);
      }
    }
    for (const { name, cold, warm } of subjects) {
      const shared = { bench: 'dagtest', unit: 's', subject: name, runs };
      print({ ...shared, figure: 'cold', value: rounded(median(cold), 3), tasks: 2 });
      print({ ...shared, figure: 'warm', value: rounded(median(warm), 3), tasks: TASKS });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
