/**
 * Real container tools for tests, apart from those of the machine: their own image store, a registry on the loopback
 * interface, and a base image made of busybox, whose `python` and `apt-get` only note what they were called with.
 * Needs root and the Debian packages podman, buildah, docker-registry and busybox-static.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findContainerTool } from '@svc/cli/build/container-tool.ts';
import type { ToolName } from '@svc/cli/build/container-tool.ts';
import { REGISTRY_PROGRAM, startRegistry } from './registry.ts';
import { TOOLS_PATH, toolEnvironment } from './tool-environment.ts';

const isInstalled = (program: string): boolean =>
  TOOLS_PATH.split(':').some((folder) => existsSync(join(folder, program)));

/** In CI the tests run whatever is missing, and fail: a build that nobody tried proves nothing. */
export const CAN_BUILD =
  process.env['CI'] !== undefined ||
  (process.getuid?.() === 0 && ['podman', 'buildah', REGISTRY_PROGRAM, 'busybox'].every(isInstalled));

/** What the registry's second user logs in with; the hash below is of this password. */
export const REGISTRY_LOGIN = { username: 'robot$ci', password: 'pa ss"$(x)' } as const;
const PASSWORD_HASH = '$2b$04$7PozW6DfhOecTF3qMARHaOaFeC0pGr4AC0ClAO17GYvxBOhQcpN72';

export type ContainerMachine = AsyncDisposable & {
  readonly env: Readonly<Record<string, string>>;
  /** Host and port of a registry that takes anything from anybody, and of one that asks for a login. */
  readonly registry: string;
  readonly privateRegistry: string;
  /** For this machine's platform; every tool here has it. */
  readonly baseImage: string;
  /** In the registry, for linux/amd64 and linux/arm64. It is made when a test asks for it. */
  readonly listImage: string;
  /** Runs one of the tools to its end and returns what it printed. */
  readonly tool: (name: ToolName, ...words: string[]) => string;
  /** Exports the image, which takes three programs: ask once for each image. */
  readonly contentOf: (name: ToolName, image: string) => ImageContent;
};

export type ImageContent = {
  /** Path → `mode owner/group`. */
  readonly files: ReadonlyMap<string, string>;
  readonly read: (path: string) => string;
};

/** podman and buildah, and docker where an engine answers. */
export async function availableTools(): Promise<ToolName[]> {
  const docker = await findContainerTool({ env: { ...process.env }, wanted: 'docker' }).catch(() => undefined);
  return ['podman', 'buildah', ...(docker === undefined ? [] : ['docker' as const])];
}

type Run = (program: string, words: readonly string[], input?: Buffer) => string;

export async function startContainerMachine(tools: readonly ToolName[]): Promise<ContainerMachine> {
  // Also undone when the start fails half-way.
  await using started = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'svc-containers-'));
  started.defer(() => rmSync(directory, { recursive: true, force: true }));
  const open = started.use(await startRegistry(join(directory, 'open')));
  const users = `${REGISTRY_LOGIN.username}:${PASSWORD_HASH}\n`;
  const closed = started.use(await startRegistry(join(directory, 'closed'), users));
  const env = toolEnvironment({ directory, registries: [open.address, closed.address], driver: 'vfs' });
  const run: Run = (program, words, input) =>
    execFileSync(program, words, {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 64_000_000,
      ...(input && { input }),
    });

  const rootfs = makeRootfs(join(directory, 'rootfs'));
  const baseImage = `localhost/svc-test-base:${process.pid}`;
  run('podman', ['import', '-', baseImage], rootfs);
  if (tools.includes('docker')) {
    started.defer(() => removeDockerImages(run));
    run('docker', ['import', '-', baseImage], rootfs);
  }
  let listImage: string | undefined;
  const all = started.move();
  return {
    env,
    registry: open.address,
    privateRegistry: closed.address,
    baseImage,
    get listImage() {
      return (listImage ??= pushListImage({ run, rootfs, registry: open.address }));
    },
    tool: (name, ...words) => run(name, words),
    contentOf: (name, image) => {
      const archive = exportImage({ run, name, image, directory });
      const files = listFiles(run('tar', ['--numeric-owner', '--quoting-style=literal', '-tvf', archive]));
      return { files, read: (path) => run('tar', ['-xOf', archive, path]) };
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** An engine serves the whole machine, and so its image store is not ours to throw away. */
function removeDockerImages(run: Run): void {
  const images = run('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}']).split('\n');
  for (const image of images.filter((name) => name.includes('svc-test-'))) run('docker', ['rmi', '--force', image]);
}

function exportImage(options: { run: Run; name: ToolName; image: string; directory: string }): string {
  const { run, name, image } = options;
  // podman and buildah share one store.
  const exporter = name === 'docker' ? 'docker' : 'podman';
  const container = run(exporter, ['create', image, 'true']).trim().split('\n').at(-1) ?? '';
  const file = join(options.directory, `${container}.tar`);
  run(exporter, ['export', '--output', file, container]);
  run(exporter, ['rm', container]);
  return file;
}

/** As a tar archive. */
function makeRootfs(directory: string): Buffer {
  for (const folder of ['bin', 'usr/local/bin', 'tmp', 'etc']) mkdirSync(join(directory, folder), { recursive: true });
  const busybox = TOOLS_PATH.split(':')
    .map((folder) => join(folder, 'busybox'))
    .find((path) => existsSync(path));
  if (busybox === undefined) throw new Error('busybox is not installed: install the Debian package busybox-static');
  copyFileSync(busybox, join(directory, 'bin/busybox'));
  for (const name of ['sh', 'cat', 'rm', 'sleep', 'printf', 'id']) symlinkSync('busybox', join(directory, 'bin', name));
  for (const name of ['python', 'apt-get']) {
    const path = join(directory, 'usr/local/bin', name);
    // A record per call: the words, each ended by a NUL, so that nothing in them can be mistaken for their end.
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\0' "$@" >> /${name}.calls\nprintf '\\0' >> /${name}.calls\n`);
    chmodSync(path, 0o755);
  }
  return execFileSync('tar', ['-C', directory, '-c', '.'], { maxBuffer: 64_000_000 });
}

function pushListImage(options: { run: Run; rootfs: Buffer; registry: string }): string {
  const { run, rootfs, registry } = options;
  const list = 'localhost/svc-test-list:1';
  run('podman', ['manifest', 'create', list]);
  for (const arch of ['amd64', 'arm64']) {
    const image = `localhost/svc-test-part:${arch}`;
    run('podman', ['import', '--os', 'linux', '--arch', arch, '-', image], rootfs);
    run('podman', ['manifest', 'add', list, `containers-storage:${image}`]);
  }
  run('podman', ['manifest', 'push', '--all', list, `docker://${registry}/base:1`]);
  return `${registry}/base:1`;
}

/** Lines of `tar -tv`: mode, owner/group, size, date, time, path. */
function listFiles(listing: string): Map<string, string> {
  const entries = listing.split('\n').flatMap((line) => {
    const match = /^(\S+) (\S+) +\S+ \S+ \S+ (.*?)(?: -> .*)?$/.exec(line);
    return match === null ? [] : [[match[3] ?? '', `${match[1]} ${match[2]}`] as const];
  });
  return new Map(entries);
}
