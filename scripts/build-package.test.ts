/** The packages as people get them: installed from their tarballs into empty directories, and run there. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnProgram } from '@svc/testing/cli/spawn-svc.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { buildPackage } from './build-package.ts';
import { PRODUCTS } from './package/products.ts';

/** npm fetches some hundred megabytes unless it has them, and lite starts for the first time. */
const INSTALL_MS = 900_000;
const LITE_MS = 600_000;

/** The npm that runs this test tells what it works on, which is nothing to the npm that the test runs. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|npm_config_local_prefix|INIT_CWD|SVC_|VITEST)/i.test(name),
  ),
);
const machinePath = (env['PATH'] ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':');

let directory: string;
beforeAll(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'svc-package-')));
  chmodSync(directory, 0o755); // Postgres may run as another user
});
afterAll(() => rmSync(directory, { recursive: true, force: true }), INSTALL_MS); // as many files as were installed

type Installed = {
  readonly folder: string;
  /** What a program of it prints. */
  run(program: string, argv: readonly string[], more?: Record<string, string>): string;
};

async function install(name: string, ...options: string[]): Promise<Installed> {
  const product = PRODUCTS.find((one) => one.name === name);
  if (!product) throw new Error(`no product ${name}`);
  const tarball = await buildPackage(product, join(directory, 'dist'));
  const folder = join(directory, name);
  mkdirSync(folder);
  // Without install scripts: newer versions of npm do not run them unasked.
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', ...options];
  execFileSync('npm', ['install', ...flags, tarball], {
    cwd: folder,
    env: { ...env, PATH: machinePath },
    stdio: 'pipe',
  });
  const run = (program: string, argv: readonly string[], more: Record<string, string> = {}): string =>
    execFileSync(join(folder, 'node_modules', '.bin', program), argv, {
      cwd: folder,
      env: { ...env, PATH: machinePath, ...more },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  return { folder, run };
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

describe('svc, installed from its package into an empty directory', () => {
  let svc: Installed;
  beforeAll(async () => {
    svc = await install('svc');
  }, INSTALL_MS);

  it('has no TypeScript, no tests and nothing that only development needs', () => {
    const folder = join(svc.folder, 'node_modules', 'svc');
    const files = filesOf(folder);
    expect(files).toContain('packages/cli/main.js');
    expect(files).toContain('python/svc_runtime/__init__.py');
    expect(files).toContain('examples/hello/dag.py');
    expect(files).toContain('LICENSE');
    expect(files.filter((file) => /\.ts$|\.test\.|\/golden\/|packages\/testing|__pycache__/.test(file))).toEqual([]);
    // An example shows how a team tests its DAGs.
    expect(files.filter((file) => /\/tests?\//.test(file) && !file.startsWith('examples/'))).toEqual([]);
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    expect(manifest).not.toMatch(/vitest|playwright|typescript|oxlint|knip|@svc\/|devDependencies|scripts/);
  });

  it('runs every program with the Node that comes along, and says what it was built from', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
      version: string;
    };
    const said = JSON.parse(svc.run('svc', ['version', '--json'])) as Record<string, string>;
    expect(said).toMatchObject({ version, node: process.versions.node });
    const described = execFileSync('git', ['describe', '--always'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    expect(said['git_version']?.replace('-dirty', '')).toBe(described.trim());
    for (const program of ['svc', 'svc-agent', 'svc-mcp']) expect(svc.run(program, ['--version'])).toBe(version);
  });

  it(
    'is lite: makes a project, compiles and runs it, and leaves nothing behind at Ctrl-C',
    { timeout: LITE_MS },
    async () => {
      svc.run('svc', ['init', 'workspace/my_dag']);
      cpSync(join(svc.folder, 'node_modules/svc/examples/fan_out'), join(svc.folder, 'workspace/fan_out'), {
        recursive: true,
      });
      const port = await freePort();
      const data = join(directory, 'data');
      const lite = spawnProgram(
        'npx',
        ['--no-install', 'svc', 'lite', 'workspace', '--port', String(port), '--data-dir', data],
        {
          cwd: svc.folder,
          env: {
            ...env,
            PATH: machinePath,
            SVC_SERVER_GRPC_ADDR: '127.0.0.1:0',
            SVC_SERVER_METRICS_ADDR: '127.0.0.1:0',
          },
          detached: true,
        },
      );
      try {
        await lite.until('Ctrl-C');
        expect(lite.output()).toMatch(/\d DAGs? in the workspace, /);
        const password = readFileSync(join(data, 'secrets', 'admin-password'), 'utf8').trim();
        const server = { SVC_SERVER_URL: `http://127.0.0.1:${port}`, SVC_HOME: join(directory, 'home') };
        const cli = (...argv: string[]): string => svc.run('svc', argv, { ...server, SVC_PASSWORD: password });
        cli('auth', 'login', '--username', 'admin@localhost');
        // On a busy machine, what takes longer than the start is compiled while lite runs.
        await eventually(() => cli('dags', 'unpause', 'my_dag', 'fan_out'));
        for (const dag of ['my_dag', 'fan_out']) expect(cli('runs', 'trigger', dag, '--wait')).toMatch(/success/);
      } finally {
        await lite.end(() => process.kill(-lite.pid, 'SIGINT')); // as a terminal does: to the whole group
      }
      await expect.poll(() => processesNaming(directory), { timeout: 60_000 }).toEqual([]);
    },
  );
});

describe('svc-agent, installed from its package without optional packages', () => {
  let agent: Installed;
  beforeAll(async () => {
    agent = await install('svc-agent', '--omit=optional');
  }, INSTALL_MS);

  it('has nothing of the control plane', () => {
    const folder = join(agent.folder, 'node_modules', 'svc-agent');
    const packages = readdirSync(join(folder, 'packages')).sort();
    expect(packages).toEqual(['agent', 'compiler', 'proto', 'spec']);
    expect(readdirSync(join(folder, 'bin')).sort()).toEqual(['find-node.sh', 'svc-agent']);
    expect(filesOf(join(agent.folder, 'node_modules')).filter((file) => /^(fastify|pg|kysely)\//.test(file))).toEqual(
      [],
    );
  });

  it('runs with the Node of the machine when that is new enough, and says so when it is not', () => {
    const program = join(agent.folder, 'node_modules/.bin/svc-agent');
    const start = (path: string): string =>
      execFileSync(program, ['--version'], { env: { PATH: path }, encoding: 'utf8', stdio: 'pipe' });
    expect(start(`${dirname(process.execPath)}:/usr/bin:/bin`)).toMatch(/^\d+\.\d+\.\d+/);

    const old = join(directory, 'old-node');
    mkdirSync(old);
    writeFileSync(join(old, 'node'), '#!/bin/sh\necho v20.20.2\n', { mode: 0o755 });
    expect(() => start(`${old}:/usr/bin:/bin`)).toThrow(/svc-agent: needs Node 24 or newer and found v20\.20\.2/);
  });
});

describe('npm in the root of the repository', () => {
  const npm = (...argv: string[]) =>
    spawnSync('npm', argv, { cwd: join(import.meta.dirname, '..'), env, encoding: 'utf8' });

  it('refuses to pack the raw repository, and says how packages are made', () => {
    const refused = npm('pack', '--dry-run');
    expect(refused.stderr).toContain('made in dist/ by: npm run pack');
    expect(refused.status).toBe(1);
  });

  it('makes packages with the command that this names', () => {
    expect(npm('run', 'pack', '--', '--package', 'none').stderr).toContain('--package none is none of svc, svc-agent');
  });
});

/** Their command lines. Postgres, agents and task processes all have a path of their installation or data in it. */
function processesNaming(path: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return []; // gone meanwhile
      }
    })
    .filter((line) => line.includes(path));
}
