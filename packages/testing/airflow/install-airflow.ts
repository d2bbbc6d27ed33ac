// Builds .cache/airflow-3.2.2: a scratch Python environment with the real Airflow, used as the reference that golden
// files and compatibility tests are generated from. Nothing of it ships.
//
//   node packages/testing/airflow/install-airflow.ts            # does nothing when the environment is already complete
//   node packages/testing/airflow/install-airflow.ts --force    # builds it again from nothing
//
// Needs Python 3.11 or newer (PYTHON names another interpreter) and a reachable package index.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from '../paths.ts';

const AIRFLOW_VERSION = '3.2.2';

// Airflow publishes a constraints file per release, but not on the package index. Resolving as of the days after the
// release (2026-05-29) gives the same set in effect; resolving as of today gives an `airflow api-server` that cannot
// start (pydantic 2.14 refuses one of its models).
const RESOLVE_AS_OF = '2026-06-01';

// The time zone rules are the exception: they must be those of the Node that the answers are compared with, or every
// rule change since looks like a bug. Node says 2026c, the Python package calls the same release 2026.3.
const tzdataRelease = (tz: string | undefined): string | null => {
  const [, year, letter] = /^(\d{4})([a-z])$/.exec(tz ?? '') ?? [];
  return year === undefined || letter === undefined ? null : `${year}.${letter.charCodeAt(0) - 'a'.charCodeAt(0) + 1}`;
};

const BOOTSTRAP = join(CACHE, 'airflow-bootstrap');
const TARGET = join(CACHE, `airflow-${AIRFLOW_VERSION}`);
const STAMP = join(TARGET, 'installed.json');

class InstallError extends Error {}

interface Step {
  readonly what: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly hint: string;
  readonly env?: Readonly<Record<string, string>>;
}

const run = ({ what, command, args, hint, env = {} }: Step): string => {
  const result = spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
  if (result.error) throw new InstallError(`${what}: cannot run ${command}: ${result.error.message}. ${hint}`);
  if (result.status !== 0) {
    const tail = `${result.stdout}\n${result.stderr}`.trim().split('\n').slice(-15).join('\n  ');
    throw new InstallError(`${what} failed with exit code ${result.status}. ${hint}\n  ${tail}`);
  }
  return result.stdout.trim();
};

const requirements = (): string[] => {
  const tzdata = tzdataRelease(process.versions.tz);
  if (tzdata === null) {
    throw new InstallError(
      `This Node does not say which time zone rules it has (process.versions.tz is ${process.versions.tz}). ` +
        'Run the script with the Node that this project pins: node_modules/.bin/node.',
    );
  }
  // time-machine stops the clock for the golden files; two drivers let it run on Postgres, to be measured against, two on MariaDB.
  const drivers = ['psycopg2-binary', 'asyncpg', 'pymysql', 'aiomysql'];
  return [`apache-airflow==${AIRFLOW_VERSION}`, `tzdata==${tzdata}`, 'time-machine', ...drivers];
};

// The stamp is written last and says what was asked for, so an interrupted or outdated install is never taken for done.
const isComplete = (wanted: string): boolean => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted;

// Runs before anything is removed: a wrong PYTHON must not cost the environment that works.
const checkPython = (python: string): void => {
  run({
    what: 'Looking for Python',
    command: python,
    args: ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'],
    hint: 'Python 3.11 or newer is needed: install it or set PYTHON to its path.',
  });
};

const makeBootstrap = (python: string): string => {
  const uv = join(BOOTSTRAP, 'bin', 'uv');
  if (existsSync(uv)) return uv;
  process.stdout.write('Fetching the installer (uv)\n');
  run({
    what: 'Creating the bootstrap environment',
    command: python,
    args: ['-m', 'venv', BOOTSTRAP],
    hint: 'On Debian the venv module is the package python3-venv.',
  });
  run({
    what: 'Installing uv',
    command: join(BOOTSTRAP, 'bin', 'pip'),
    args: ['install', '--quiet', 'uv'],
    hint: 'Is the Python package index reachable? Check pip.conf and proxy settings.',
  });
  return uv;
};

// Without --force an environment that only lacks something is completed in place, so that those using it are not disturbed.
const install = ({ python, wanted, force }: { python: string; wanted: readonly string[]; force: boolean }): void => {
  checkPython(python);
  mkdirSync(CACHE, { recursive: true });
  const uv = makeBootstrap(python);
  if (force) rmSync(TARGET, { recursive: true, force: true });
  run({
    what: 'Creating the Airflow environment',
    command: uv,
    args: ['venv', '--quiet', '--allow-existing', '--python', python, TARGET],
    hint: `Remove ${BOOTSTRAP} and try again.`,
  });
  const cutOff = ['--exclude-newer', RESOLVE_AS_OF, '--exclude-newer-package', 'tzdata=2027-01-01'];
  process.stdout.write(`Installing ${wanted.join(' ')} as of ${RESOLVE_AS_OF}\n`);
  run({
    what: 'Installing Airflow',
    command: uv,
    args: ['pip', 'install', '--quiet', '--python', join(TARGET, 'bin', 'python'), ...cutOff, ...wanted],
    // An index behind a company's own certificate authority is trusted by the system, not by uv's built-in list.
    env: { UV_SYSTEM_CERTS: 'true' },
    hint: 'The package index must serve upload times (PyPI does; some mirrors do not).',
  });
};

const verify = (): string =>
  run({
    what: 'Importing Airflow',
    command: join(TARGET, 'bin', 'python'),
    args: [
      '-c',
      [
        'import airflow, airflow.sdk, airflow.timetables.trigger, airflow.api_fastapi.core_api.app',
        'from importlib.metadata import version as v',
        'print("airflow", airflow.__version__, *(f"{p} {v(p)}" for p in ("croniter", "pendulum", "tzdata")))',
      ].join('\n'),
    ],
    // Airflow writes airflow.cfg into its home on import; keep that away from the user's own.
    env: { AIRFLOW_HOME: join(TARGET, 'home'), AIRFLOW__CORE__LOAD_EXAMPLES: 'False' },
    hint: 'A dependency is incompatible: pin it in requirements() of this script.',
  });

const main = (): void => {
  const wanted = requirements();
  const stamp = `${JSON.stringify({ requirements: wanted, resolvedAsOf: RESOLVE_AS_OF })}\n`;
  const force = process.argv.includes('--force');
  if (!force && isComplete(stamp)) {
    process.stdout.write(`Already installed: ${TARGET}\n`);
    return;
  }
  install({ python: process.env['PYTHON'] ?? 'python3', wanted, force });
  process.stdout.write(`${verify().split('\n').at(-1) ?? ''}\n`);
  writeFileSync(STAMP, stamp);
  process.stdout.write(`Installed: ${TARGET}\n`);
};

try {
  main();
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  process.stderr.write(`install-airflow: ${error.message}\n`);
  process.exitCode = 1;
}
