/**
 * The programs of a cluster, built from Go modules. Each is built once for each state of its sources and kept in the cache.
 * They share what Go compiles as long as their modules have the same versions (build-programs.test.ts).
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CACHE } from '@svc/testing/paths.ts';
import { report } from './report.ts';

export const KUBERNETES_CACHE = join(CACHE, 'kubernetes');

/** hyperkube is each of these, by the name it is called by. */
const PARTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubectl',
  'kubelet',
];

type GoProgram = {
  /** Also the folder of its module. */
  readonly name: 'coredns' | 'helm' | 'hyperkube' | 'pause';
  readonly target: string;
  /** Variables that tell the program its version, and the module that has it. */
  readonly version?: { readonly module: string; readonly variables: (version: string) => Record<string, string> };
};

const PROGRAMS: readonly GoProgram[] = [
  { name: 'pause', target: '.' },
  {
    name: 'hyperkube',
    target: '.',
    version: {
      module: 'k8s.io/kubernetes',
      variables: (version) => {
        const [major = '', minor = ''] = version.slice(1).split('.');
        const values = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
        return Object.fromEntries(
          ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((folder) =>
            Object.entries(values).map(([name, value]) => [`${folder}.${name}`, value]),
          ),
        );
      },
    },
  },
  { name: 'coredns', target: '.' },
  {
    name: 'helm',
    target: 'helm.sh/helm/v3/cmd/helm',
    version: {
      module: 'helm.sh/helm/v3',
      variables: (version) => ({ 'helm.sh/helm/v3/internal/version.version': version }),
    },
  },
];

/** The folder of the programs: links to where each is kept. */
export async function kubernetesPrograms(): Promise<string> {
  const built = new Map<string, string>();
  for (const program of PROGRAMS) built.set(program.name, await kept(program));
  const folder = join(KUBERNETES_CACHE, `programs-${hashOf([...built.values()].join('\n'))}`);
  if (existsSync(folder)) return folder;
  await makeFolder(folder, async (unfinished) => {
    for (const [name, path] of built) symlinkSync(path, join(unfinished, name));
    for (const part of PARTS) symlinkSync('hyperkube', join(unfinished, part));
  });
  return folder;
}

/** The path of a program, built when it was not built from these sources before. */
async function kept(program: GoProgram): Promise<string> {
  const { name } = program;
  const folder = join(KUBERNETES_CACHE, `program-${name}-${hashOf(sourcesOf(program))}`);
  if (!existsSync(folder)) {
    requireGo();
    await makeFolder(folder, (unfinished) => build(program, unfinished));
  }
  return join(folder, name);
}

/** Complete or not there at all. */
async function makeFolder(folder: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
  mkdirSync(KUBERNETES_CACHE, { recursive: true });
  const unfinished = mkdtempSync(join(KUBERNETES_CACHE, 'unfinished-'));
  try {
    await fill(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process has made the same in the meantime.
    if (!existsSync(folder)) throw error;
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

function sourcesOf(program: GoProgram): string {
  const folder = join(import.meta.dirname, program.name);
  const files = readdirSync(folder).sort();
  const texts = files.map((file) => `${file}\n${readFileSync(join(folder, file), 'utf8')}`);
  return [process.platform, process.arch, JSON.stringify(program), ...texts].join('\n');
}

const GO_ENVIRONMENT = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' };

function requireGo(): void {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    throw new Error(
      'Kubernetes is built with Go, which is not installed: install Go 1.24 or newer (https://go.dev/dl)',
    );
  }
}

async function build({ name, target, version }: GoProgram, into: string): Promise<void> {
  const cwd = join(import.meta.dirname, name);
  const begin = performance.now();
  const flags = ['-s', '-w'];
  if (version) {
    const format = ['list', '-m', '-f', '{{.Version}}', version.module];
    const found = execFileSync('go', format, { cwd, env: GO_ENVIRONMENT, encoding: 'utf8' }).trim();
    for (const [variable, value] of Object.entries(version.variables(found))) flags.push('-X', `${variable}=${value}`);
    report(`building ${name} ${found}`);
  }
  const words = ['build', '-v', '-o', join(into, name), '-ldflags', flags.join(' '), target];
  const child = spawn('go', words, { cwd, env: GO_ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: string[] = [];
  createInterface(child.stderr).on('line', (line) => lines.push(line));
  const progress = setInterval(() => report(`building ${name}: ${lines.length} packages so far`), 30_000);
  const [code] = (await once(child, 'close').finally(() => clearInterval(progress))) as [number | null];
  if (code !== 0) throw new Error(`go build of ${name} ended with ${code}:\n${lines.slice(-20).join('\n')}`);
  report(`built ${name} in ${Math.round((performance.now() - begin) / 1_000)} s`);
}
