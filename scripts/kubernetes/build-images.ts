/**
 * Our images as the cluster's registry has them, built by our own build files. Their bases come from Debian packages
 * instead of a public registry; that and what podman keeps between builds is all that differs from a release.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { VERSION } from '@svc/cli/version.ts';
import { startRegistry } from '@svc/testing/build/registry.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { KUBERNETES_CACHE, kubernetesPrograms } from './build-programs.ts';
import { PAUSE_IMAGE } from './components.ts';
import { report } from './report.ts';

/** Of Debian's release, and so the line of Python that the bases have. */
const SUITE = 'bookworm';
const PYTHON_LINE = '3.11';
const PACKAGES = ['ca-certificates', 'python3', 'python3-pip'];
/** In place of the official image of Postgres, which the chart brings for trying out. */
const POSTGRES_IMAGE = 'svc-postgres:15';
const POSTGRES_PACKAGES = ['postgresql-15'];
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/locale/*'];

const BUILD_FILES = {
  'svc-base': 'deploy/base-images/Dockerfile',
  'svc-control-plane': 'deploy/control-plane/Dockerfile',
};
/** What those build files copy. */
const CONTEXT = ['package.json', 'package-lock.json', '.npmrc', 'bin/*', 'deploy/agent-bundle/*', 'deploy/base-images/svc-agent', 'packages/**', 'python/requirements.txt', 'python/airflow/**', 'python/svc_runtime/**', 'python/svc/**', 'python/cosmos/**']; // prettier-ignore
/** How the machine reaches package registries, for the commands of a build. */
const MACHINE_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pip.conf',
  '/usr/etc/npmrc',
  join(homedir(), '.npmrc'),
];
const KEPT_VERSIONS = 3;

/** The folder of what the registry serves. */
export async function kubernetesImages(): Promise<string> {
  const key = hashOfSources();
  const folder = join(KUBERNETES_CACHE, `images-${key}`);
  if (existsSync(folder)) return folder;
  mkdirSync(KUBERNETES_CACHE, { recursive: true });
  const unfinished = mkdtempSync(join(KUBERNETES_CACHE, 'unfinished-'));
  try {
    await buildAll({ unfinished, key });
    renameSync(join(unfinished, 'data'), folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  await removeOldVersions();
  return folder;
}

async function buildAll({ unfinished, key }: { unfinished: string; key: string }): Promise<void> {
  await using registry = await startRegistry(unfinished);
  const push = (image: string, name: string): Promise<void> =>
    podman('push', '--tls-verify=false', image, `docker://${registry.address}/${name}`);

  const pause = `localhost/svc-pause:${key}`;
  await buildFrom({ image: pause, text: 'FROM scratch\nCOPY pause /\nENTRYPOINT ["/pause"]\n', files: { pause: join(await kubernetesPrograms(), 'pause') } }); // prettier-ignore
  await push(pause, PAUSE_IMAGE);
  const python = await debianImage();
  const node = await nodeImage(python);
  for (const [name, buildFile] of Object.entries(BUILD_FILES)) {
    const image = `localhost/${name}:${key}`;
    await podman(
      'build',
      `--file=${buildFile}`,
      `--ignorefile=${buildFile}.dockerignore`,
      `--build-arg=NODE_IMAGE=${node}`,
      `--build-arg=PYTHON_IMAGE=${python}`,
      ...MACHINE_FILES.filter((file) => existsSync(file)).map((file) => `--volume=${file}:${file}:ro`),
      `--tag=${image}`,
      '.',
    );
    await push(image, name === 'svc-base' ? `${name}:${PYTHON_LINE}-${VERSION}` : `${name}:${VERSION}`);
    report(`built ${name}`);
  }
  await push(await postgresImage(key), POSTGRES_IMAGE);
}

/** In place of the official image of Python. */
async function debianImage(): Promise<string> {
  // `python` as in the official image, and pip may install beside Debian's packages.
  const python = 'ln -s /usr/bin/python3 "$1/usr/local/bin/python" && rm "$1"/usr/lib/python3*/EXTERNALLY-MANAGED';
  return imageOfPackages({ name: 'svc-debian', packages: PACKAGES, hook: python });
}

/** With the user, the variables and the entry point of the official image, as far as the chart uses them. */
async function postgresImage(key: string): Promise<string> {
  const hook = 'chroot "$1" usermod --uid 999 postgres && chroot "$1" groupmod --gid 999 postgres';
  const base = await imageOfPackages({ name: 'svc-debian-postgres', packages: POSTGRES_PACKAGES, hook });
  const image = `localhost/svc-postgres:${key}`;
  const entryPoint = 'docker-entrypoint.sh';
  await buildFrom({
    image,
    text: `FROM ${base}
COPY ${entryPoint} /usr/local/bin/
USER 999:999
ENTRYPOINT ["${entryPoint}"]
CMD ["postgres"]
`,
    files: { [entryPoint]: join(ROOT, 'scripts/kubernetes/postgres', entryPoint) },
  });
  return image;
}

/** `hook` finishes it, with the folder of its root as `$1`. */
async function imageOfPackages(recipe: { name: string; packages: readonly string[]; hook: string }): Promise<string> {
  const { name, packages, hook } = recipe;
  const key = createHash('sha256').update(JSON.stringify([SUITE, LEFT_OUT, packages, hook]));
  const image = `localhost/${name}:${key.digest('hex').slice(0, 12)}`;
  if (hasImage(image)) return image;
  report(`installing ${packages.join(', ')} of Debian ${SUITE} into an image`);
  const folder = mkdtempSync(join(tmpdir(), 'svc-debian-'));
  const archive = join(folder, 'root.tar');
  const options = [`--include=${packages.join(',')}`, ...LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`)];
  const sources = globSync(['/etc/apt/sources.list', '/etc/apt/sources.list.d/debian.sources']).filter((file) => statSync(file).size > 0); // prettier-ignore
  const path = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  try {
    await run('mmdebstrap', ['--quiet', '--variant=apt', ...options, `--customize-hook=${hook}`, SUITE, archive, ...sources]); // prettier-ignore
    await podman('import', `--change=${path}`, archive, image);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return image;
}

/** In place of the official image of Node: the one that runs us, and the machine's npm. */
async function nodeImage(base: string): Promise<string> {
  const image = `localhost/svc-node:${process.version.slice(1)}`;
  if (hasImage(image)) return image;
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  await buildFrom({
    image,
    text: `FROM ${base}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
`,
    files: { node: process.execPath, npm: dirname(dirname(realpathSync(npm))) },
  });
  return image;
}

async function buildFrom(options: { image: string; text: string; files: Record<string, string> }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-image-'));
  try {
    writeFileSync(join(folder, 'Dockerfile'), options.text);
    for (const [name, path] of Object.entries(options.files)) {
      if (statSync(path).isDirectory()) execFileSync('cp', ['-a', path, join(folder, name)]);
      else copyFileSync(path, join(folder, name));
    }
    await podman('build', `--tag=${options.image}`, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Left out by the builds too. */
const isOutside = (path: string): boolean =>
  /(?:^|\/)(?:node_modules|__pycache__)$|\.test\.ts$|^packages\/testing\/(?!package\.json)/.test(path);

function hashOfSources(): string {
  const hash = createHash('sha256').update(`${process.arch} ${process.version}\n`);
  const files = globSync([...CONTEXT, 'deploy/*.sh', 'deploy/*/Dockerfile*', 'scripts/kubernetes/{pause,postgres}/*'], {
    cwd: ROOT,
    exclude: isOutside, // keeps it from looking into folders; files it asks about only by some patterns
  }).filter((file) => !isOutside(file));
  for (const file of [...files, 'scripts/kubernetes/build-images.ts'].sort()) {
    if (statSync(join(ROOT, file)).isFile()) hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex').slice(0, 12);
}

async function removeOldVersions(): Promise<void> {
  const folders = readdirSync(KUBERNETES_CACHE)
    .filter((name) => name.startsWith('images-'))
    .map((name) => join(KUBERNETES_CACHE, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const folder of folders.slice(KEPT_VERSIONS)) rmSync(folder, { recursive: true });
  // What podman has of earlier builds, except the bases; a younger one may be somebody's who builds just now.
  const old = '--filter=until=2h';
  // A build that was cut off leaves its containers, and those hold their images.
  const cutOff = podmanLines('ps', '--all', '--external', old, '--quiet');
  if (cutOff.length > 0) await podman('rm', '--force', ...cutOff);
  const names = [...Object.keys(BUILD_FILES), 'svc-pause', 'svc-postgres'].map(
    (name) => `--filter=reference=localhost/${name}:*`,
  );
  const images = podmanLines('images', old, ...names, '--format={{.Repository}}:{{.Tag}}');
  if (images.length > 0) await podman('rmi', '--force', ...images);
  await podman('image', 'prune', '--force', old);
}

/** The machine's own images stay out of it, and what we build out of theirs. */
function podmanEnvironment(): NodeJS.ProcessEnv {
  const folder = join(KUBERNETES_CACHE, 'containers');
  mkdirSync(folder, { recursive: true });
  const storage = join(folder, 'storage.conf');
  const place = realpathSync(folder);
  writeFileSync(storage, `[storage]\ndriver = "overlay"\ngraphroot = "${place}/store"\nrunroot = "${place}/run"\n`);
  return { ...process.env, CONTAINERS_STORAGE_CONF: storage, BUILDAH_ISOLATION: 'chroot' };
}

const podman = (...words: string[]): Promise<void> => run('podman', words, podmanEnvironment());

const podmanLines = (...words: string[]): string[] =>
  execFileSync('podman', words, { env: podmanEnvironment(), encoding: 'utf8' }).split('\n').filter(Boolean);

function hasImage(image: string): boolean {
  try {
    execFileSync('podman', ['image', 'exists', image], { env: podmanEnvironment(), stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function run(program: string, words: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const child = spawn(program, words, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on('line', (line) => lines.push(line));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${words[0]} ended with ${code}:\n${lines.slice(-30).join('\n')}`);
}
