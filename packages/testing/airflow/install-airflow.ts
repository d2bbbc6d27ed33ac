// Builds .cache/airflow-<version>: a scratch Python environment with the real Airflow, used as the reference that golden
// files and compatibility tests are generated from. Nothing of it ships.
//
//   node packages/testing/airflow/install-airflow.ts            # does nothing when the environment is already complete
//   node packages/testing/airflow/install-airflow.ts --force    # builds it again from nothing
//   node packages/testing/airflow/install-airflow.ts 3.3.2      # the newer version in place of 3.2.2
//
// Needs Python 3.11 or newer (PYTHON names another interpreter) and a reachable package index.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CACHE } from '../paths.ts';
import { BOOTSTRAP, InstallError, installerOf, run } from './installer.ts';

// Airflow publishes a constraints file per release, but not on the package index. Resolving as of the days after the
// release gives the same set in effect. Resolving 3.2.2 as of today gives an `airflow api-server` that cannot start
// (pydantic 2.14 refuses one of its models).
const RESOLVE_AS_OF: Readonly<Record<string, string>> = { '3.2.2': '2026-06-01', '3.3.2': '2026-10-01' };

// The time zone rules are the exception: they must be those of the Node that the answers are compared with, or every
// rule change since looks like a bug. Node says 2026c, the Python package calls the same release 2026.3.
const tzdataRelease = (tz: string | undefined): string | null => {
  const [, year, letter] = /^(\d{4})([a-z])$/.exec(tz ?? '') ?? [];
  return year === undefined || letter === undefined ? null : `${year}.${letter.charCodeAt(0) - 'a'.charCodeAt(0) + 1}`;
};

type Release = { version: string; resolveAsOf: string; target: string; stamp: string };

function releaseOf(version: string): Release {
  const resolveAsOf = RESOLVE_AS_OF[version];
  if (resolveAsOf === undefined) {
    throw new InstallError(
      `no date is known for Airflow ${version}; known are ${Object.keys(RESOLVE_AS_OF).join(', ')}`,
    );
  }
  const target = join(CACHE, `airflow-${version}`);
  return { version, resolveAsOf, target, stamp: join(target, 'installed.json') };
}

const requirements = (version: string): string[] => {
  const tzdata = tzdataRelease(process.versions.tz);
  if (tzdata === null) {
    throw new InstallError(
      `This Node does not say which time zone rules it has (process.versions.tz is ${process.versions.tz}). ` +
        'Run the script with the Node that this project pins: node_modules/.bin/node.',
    );
  }
  // time-machine stops the clock for the golden files; two drivers let it run on Postgres, to be measured against, two on MariaDB.
  const drivers = ['psycopg2-binary', 'asyncpg', 'pymysql', 'aiomysql'];
  return [`apache-airflow==${version}`, `tzdata==${tzdata}`, 'time-machine', ...drivers];
};

// The stamp is written last and says what was asked for, so an interrupted or outdated install is never taken for done.
const isComplete = ({ stamp }: Release, wanted: string): boolean =>
  existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

// Runs before anything is removed: a wrong PYTHON must not cost the environment that works.
const checkPython = (python: string): void => {
  run({
    what: 'Looking for Python',
    command: python,
    args: ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'],
    hint: 'Python 3.11 or newer is needed: install it or set PYTHON to its path.',
  });
};

// Without --force an environment that only lacks something is completed in place, so that those using it are not disturbed.
const install = (input: { release: Release; python: string; wanted: readonly string[]; force: boolean }): void => {
  const { release, python, wanted, force } = input;
  const { target, resolveAsOf } = release;
  checkPython(python);
  mkdirSync(CACHE, { recursive: true });
  const uv = installerOf(python);
  if (force) rmSync(target, { recursive: true, force: true });
  run({
    what: 'Creating the Airflow environment',
    command: uv,
    args: ['venv', '--quiet', '--allow-existing', '--python', python, target],
    hint: `Remove ${BOOTSTRAP} and try again.`,
  });
  const cutOff = ['--exclude-newer', resolveAsOf, '--exclude-newer-package', 'tzdata=2027-01-01'];
  process.stdout.write(`Installing ${wanted.join(' ')} as of ${resolveAsOf}\n`);
  run({
    what: 'Installing Airflow',
    command: uv,
    args: ['pip', 'install', '--quiet', '--python', join(target, 'bin', 'python'), ...cutOff, ...wanted],
    // An index behind a company's own certificate authority is trusted by the system, not by uv's built-in list.
    env: { UV_SYSTEM_CERTS: 'true' },
    hint: 'The package index must serve upload times (PyPI does; some mirrors do not).',
  });
};

const verify = ({ target }: Release): string =>
  run({
    what: 'Importing Airflow',
    command: join(target, 'bin', 'python'),
    args: [
      '-c',
      [
        'import airflow, airflow.sdk, airflow.timetables.trigger, airflow.api_fastapi.core_api.app',
        'from importlib.metadata import version as v',
        'print("airflow", airflow.__version__, *(f"{p} {v(p)}" for p in ("croniter", "pendulum", "tzdata")))',
      ].join('\n'),
    ],
    // Airflow writes airflow.cfg into its home on import; keep that away from the user's own.
    env: { AIRFLOW_HOME: join(target, 'home'), AIRFLOW__CORE__LOAD_EXAMPLES: 'False' },
    hint: 'A dependency is incompatible: pin it in requirements() of this script.',
  });

const main = (): void => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { force: { type: 'boolean' } } });
  const release = releaseOf(positionals[0] ?? '3.2.2');
  const wanted = requirements(release.version);
  const stamp = `${JSON.stringify({ requirements: wanted, resolvedAsOf: release.resolveAsOf })}\n`;
  const force = values.force ?? false;
  if (!force && isComplete(release, stamp)) {
    process.stdout.write(`Already installed: ${release.target}\n`);
    return;
  }
  install({ release, python: process.env['PYTHON'] ?? 'python3', wanted, force });
  process.stdout.write(`${verify(release).split('\n').at(-1) ?? ''}\n`);
  writeFileSync(release.stamp, stamp);
  process.stdout.write(`Installed: ${release.target}\n`);
};

try {
  main();
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  process.stderr.write(`install-airflow: ${error.message}\n`);
  process.exitCode = 1;
}
