/**
 * The tests that repositories of Airflow users have (packages/testing/airflow/usual-tests): with our wheel in an environment without Airflow, and
 * the same files with Airflow 3.2.2.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import { IS_NIGHTLY } from '@svc/testing/nightly.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { virtualEnvironment } from '@svc/testing/virtual-environment.ts';
import { wheelEnvironment } from '@svc/testing/wheel-environment.ts';
import { buildWheel } from './build-wheel.ts';

const REPOSITORY = join(ROOT, 'packages/testing/airflow/usual-tests');
/** Airflow starts a process or more for each run of dag.test(), so by day it leaves out the whole runs. */
const BY_DAY = ['tests/test_dag_integrity.py', 'tests/test_operators.py', 'tests/test_structure.py'];
const PASSED = /^(\d+) passed/m;
const TAKES_MS = 1_800_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-usual-tests-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Outcome = { status: number; output: string };

async function pytest(
  python: string,
  { path, files, env }: { path: string; files: readonly string[]; env?: Record<string, string> },
): Promise<Outcome> {
  const repository = mkdtempSync(join(folder, 'repository-'));
  cpSync(REPOSITORY, repository, { recursive: true });
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--show-capture=no', ...files];
  const options = {
    cwd: repository,
    env: { PATH: process.env['PATH'], PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1', ...env },
    maxBuffer: 64 << 20,
  };
  try {
    const { stdout, stderr } = await promisify(execFile)(python, args, options);
    return { status: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, output: stdout + stderr };
  }
}

it(
  'the usual tests of an Airflow repository pass with the wheel, where no Airflow and no Node is installed',
  async () => {
    const python = await wheelEnvironment();
    const wheel = await buildWheel(join(folder, 'dist'));
    const installed = join(folder, 'installed');
    const options = ['--no-deps', '--no-compile', '--quiet', '--disable-pip-version-check', '--target', installed];
    execFileSync(python, ['-m', 'pip', 'install', ...options, wheel]);
    const none = spawnSync(python, ['-c', 'import airflow'], { env: { PATH: '/nowhere' } });
    expect(none.status, 'the environment has an airflow of its own').not.toBe(0);
    const { status, output } = await pytest(python, { path: installed, files: ['tests'] });
    expect(status, output).toBe(0);
    expect(Number(PASSED.exec(output)?.[1])).toBeGreaterThanOrEqual(37);
  },
  TAKES_MS,
);

it(
  'the same tests pass with Airflow 3.2.2, so they show no habit of ours',
  async () => {
    const python = await installAirflow();
    const tools = await virtualEnvironment({
      name: 'usual-tests',
      requirements: [join(REPOSITORY, 'requirements.txt')],
    });
    const packages = execFileSync(tools, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], {
      encoding: 'utf8',
    });
    const env = { AIRFLOW_HOME: join(folder, 'home'), AIRFLOW__CORE__LOAD_EXAMPLES: 'False' };
    execFileSync(python, ['-m', 'airflow', 'db', 'migrate'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    });
    const files = IS_NIGHTLY ? ['tests'] : BY_DAY;
    const { status, output } = await pytest(python, { path: packages.trim(), files, env });
    expect(status, output).toBe(0);
    expect(Number(PASSED.exec(output)?.[1])).toBeGreaterThanOrEqual(IS_NIGHTLY ? 37 : 28);
  },
  TAKES_MS,
);
