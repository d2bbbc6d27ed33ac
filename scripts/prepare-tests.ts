// Brings what tests need and npm cannot: runs before `npm test`, takes a moment when everything is there.
//
//   system packages   installed with apt where we may; otherwise a message says which tests will miss them
//   Python            the environments that compile DAG files, that call the API with the official client, and that make up
//                     requests from the API's document, and that stand in for object stores; uv
//   programs          as bundles of the sources as they are now: tests start hundreds of them
//   documents         Airflow's own description of its API, which answers are checked against
//
//   node scripts/prepare-tests.ts --kubernetes   # also what a cluster of our own needs (npm run test:kubernetes)
//   node scripts/prepare-tests.ts --services     # also Keycloak, Vault, dbt, provider packages and more (npm run test:services)

import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { bundlePrograms } from './bundle-programs.ts';
import { UiBundleError } from '@svc/cli/setup/ui-bundle.ts';
import { PythonEnvironmentError } from '@svc/compiler/python-failures.ts';
import { airflowOpenApi } from '@svc/testing/airflow/openapi-document.ts';
import { clientEnvironment } from '@svc/testing/airflow/client-environment.ts';
import { fsspecFolder } from '@svc/testing/fsspec/environment.ts';
import { podOperatorEnvironment } from '@svc/testing/kubernetes/pod-operator-environment.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { objectStoresEnvironment } from '@svc/testing/services/object-stores.ts';
import { prepareServices } from '@svc/testing/services/prepare-services.ts';
import { secretStoresEnvironment } from '@svc/testing/services/secret-stores.ts';
import { uvFolder } from '@svc/testing/uv/environment.ts';
import { valuesFolder } from '@svc/testing/values/environment.ts';
import { VirtualEnvironmentError } from '@svc/testing/virtual-environment.ts';

type SystemPackage = { name: string; commands: readonly string[]; neededFor: string };

/** Found under any of the commands; the name is Debian's. */
const PACKAGES: readonly SystemPackage[] = [
  {
    name: 'chromium-headless-shell',
    commands: ['chromium-headless-shell'],
    neededFor: 'the browser tests, which otherwise take Chromium and longer,',
  },
  { name: 'podman', commands: ['podman'], neededFor: 'the image builds' },
  { name: 'buildah', commands: ['buildah'], neededFor: 'the image builds' },
  { name: 'docker-registry', commands: ['docker-registry'], neededFor: 'the image pushes' },
  { name: 'busybox-static', commands: ['busybox'], neededFor: 'the image builds' },
  { name: 'redis-server', commands: ['redis-server'], neededFor: 'the tests with Redis' },
  {
    name: 'pgbouncer',
    commands: ['pgbouncer', '/usr/sbin/pgbouncer'],
    neededFor: 'the tests with a connection pooler',
  },
  {
    name: 'mariadb-server',
    commands: ['mariadbd', '/usr/sbin/mariadbd'],
    neededFor: 'the tests of svc migrate with MySQL',
  },
  { name: 'openssl', commands: ['openssl'], neededFor: 'the certificates of tests' },
  { name: 'faketime', commands: ['faketime'], neededFor: 'the tests that set the clock' },
];

/** Beside those. A plugin is no command, and so it is named by its path. */
const KUBERNETES_PACKAGES: readonly SystemPackage[] = [
  { name: 'containerd', commands: ['containerd'], neededFor: 'the tests on a cluster' },
  { name: 'runc', commands: ['runc'], neededFor: 'the tests on a cluster' },
  { name: 'containernetworking-plugins', commands: ['/usr/lib/cni/bridge'], neededFor: 'the tests on a cluster' },
  { name: 'iptables', commands: ['iptables'], neededFor: 'the tests on a cluster' },
  { name: 'iproute2', commands: ['ip'], neededFor: 'the tests on a cluster' },
  { name: 'openssl', commands: ['openssl'], neededFor: 'the tests on a cluster' },
  { name: 'tini', commands: ['tini'], neededFor: 'the tests on a cluster' },
  { name: 'mmdebstrap', commands: ['mmdebstrap'], neededFor: 'the images of the tests on a cluster' },
];

/** Next to those. Vault is compiled with Go, which Debian does not have in a recent version. */
const SERVICES_PACKAGES: readonly SystemPackage[] = [
  { name: 'default-jre-headless', commands: ['java'], neededFor: 'the tests with Keycloak' },
  { name: 'maven', commands: ['mvn'], neededFor: 'the tests with Keycloak' },
  { name: 'unzip', commands: ['unzip'], neededFor: 'the tests with Keycloak' },
  { name: 'golang-go', commands: ['go'], neededFor: 'the tests with Vault' },
];

export type Machine = { hasCommand(name: string): boolean; isRoot: boolean; maySudo(): boolean };
export type Plan = { missing: readonly SystemPackage[]; install: readonly string[] | undefined };

/** What is missing, and the start of the command line that can install it; undefined when nobody here may. */
export function planInstallation(machine: Machine, packages: readonly SystemPackage[] = PACKAGES): Plan {
  const missing = packages.filter(({ commands }) => !commands.some((command) => machine.hasCommand(command)));
  if (missing.length === 0 || !machine.hasCommand('apt-get')) return { missing, install: undefined };
  if (machine.isRoot) return { missing, install: ['env'] };
  return { missing, install: machine.hasCommand('sudo') && machine.maySudo() ? ['sudo', '-n', 'env'] : undefined };
}

const thisMachine: Machine = {
  hasCommand: (name) =>
    isAbsolute(name)
      ? isExecutable(name)
      : (process.env['PATH'] ?? '').split(delimiter).some((directory) => isExecutable(join(directory, name))),
  isRoot: process.getuid?.() === 0,
  maySudo: () => spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0,
};

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const say = (message: string): void => void process.stderr.write(`prepare-tests: ${message}\n`);

function installSystemPackages(packages: readonly SystemPackage[]): void {
  const { missing, install } = planInstallation(thisMachine, packages);
  if (install) {
    say(`installing ${missing.map(({ name }) => name).join(' and ')}`);
    // The run level keeps the packages from starting services: tests start their own.
    const apt = [
      ...install,
      'DEBIAN_FRONTEND=noninteractive',
      'RUNLEVEL=1',
      'apt-get',
      '-qq',
      '-o',
      'Acquire::Retries=3',
    ];
    run([...apt, 'update']);
    // Each by itself: one that a distribution does not have takes none of the others with it.
    for (const { name } of missing) run([...apt, 'install', '--yes', '--no-install-recommends', name]);
  }
  for (const { name, neededFor } of planInstallation(thisMachine, packages).missing) {
    say(`${name} is missing and cannot be installed from here; ${neededFor} need it (apt-get install ${name})`);
  }
}

function run([command = '', ...args]: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) say(`${[command, ...args].join(' ')} failed:\n${`${stdout}\n${stderr}`.trim().slice(-2_000)}`);
}

if (import.meta.main) {
  const wantsCluster = process.argv.includes('--kubernetes') && !process.env['KUBECONFIG'];
  installSystemPackages([
    ...PACKAGES,
    ...(wantsCluster ? KUBERNETES_PACKAGES : []),
    ...(process.argv.includes('--services') ? SERVICES_PACKAGES : []),
  ]);
  try {
    await Promise.all([
      bundlePrograms(),
      pythonEnvironment(),
      clientEnvironment().then(airflowOpenApi),
      process.argv.includes('--kubernetes') && podOperatorEnvironment(),
      objectStoresEnvironment(),
      secretStoresEnvironment(),
      uvFolder(),
      fsspecFolder(),
      valuesFolder(),
    ]);
    if (process.argv.includes('--services')) await prepareServices(say);
  } catch (error) {
    const known = [PythonEnvironmentError, UiBundleError, VirtualEnvironmentError];
    if (!(error instanceof Error) || !known.some((kind) => error instanceof kind)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}
