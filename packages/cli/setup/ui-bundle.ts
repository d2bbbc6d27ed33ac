/**
 * Fetches the bundle of the web UI: only `ui/dist` of the official package with a pinned checksum. It is built next to
 * its final place and renamed, so that an existing bundle is always complete.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { BUNDLE_STAMP, ENCODED_EXTENSIONS, FOLDER_IN_PACKAGE, UI_PACKAGES, bundleFolder } from '@svc/web/bundle.ts';
import type { UiPackage, UiVersion } from '@svc/web/bundle.ts';

const run = promisify(execFile);

export class UiBundleError extends Error {}

const COMPRESSED = new Set(['.js', '.css', '.json', '.wasm', '.ttf', '.svg']);
const WORTH_BYTES = 1_024;

const UNPACK = `
import sys, zipfile
wheel, folder, prefix = sys.argv[1:4]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(prefix):
            archive.extract(name, folder)
`;

export async function ensureUiBundle(input: {
  env: Readonly<Record<string, string | undefined>>;
  /** A Python interpreter with pip. */
  python: string;
  version: UiVersion;
  say?: (text: string) => void;
}): Promise<string> {
  const { env, python, version } = input;
  const target = bundleFolder(env, version);
  if (existsSync(join(target, BUNDLE_STAMP))) return target;
  input.say?.(`fetching the Airflow ${version} web UI`);
  await mkdir(dirname(target), { recursive: true });
  const work = await mkdtemp(`${target}.building-`);
  try {
    const distribution = UI_PACKAGES[version];
    await unpackFromPackage({ env, python, prefix: FOLDER_IN_PACKAGE, folder: work, distribution });
    const unpacked = join(work, FOLDER_IN_PACKAGE);
    await compressAll(unpacked);
    await writeFile(join(unpacked, BUNDLE_STAMP), `${version}\n`);
    await rm(target, { recursive: true, force: true });
    await rename(unpacked, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error; // another process was faster
    });
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Fetches the package and unpacks the files with this `prefix`. `folder` belongs to the caller and will contain both.
 */
export async function unpackFromPackage(input: {
  env: Readonly<Record<string, string | undefined>>;
  python: string;
  prefix: string;
  folder: string;
  distribution: UiPackage;
}): Promise<void> {
  const wheel = await download(input, input.folder);
  await run(input.python, ['-c', UNPACK, wheel, input.folder, input.prefix]);
}

async function download(
  {
    python,
    env,
    distribution: { requirement, sha256 },
  }: {
    python: string;
    env: Readonly<Record<string, string | undefined>>;
    distribution: UiPackage;
  },
  folder: string,
): Promise<string> {
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, `${requirement} --hash=sha256:${sha256}\n`);
  const args =
    '-m pip download --quiet --no-deps --only-binary=:all: --disable-pip-version-check --no-input --require-hashes'.split(
      ' ',
    );
  try {
    await run(python, [...args, '-d', folder, '-r', requirements], { env: { ...env } as NodeJS.ProcessEnv });
  } catch (error) {
    const detail =
      String((error as { stderr?: unknown }).stderr ?? error)
        .trim()
        .split('\n')
        .at(-1) ?? '';
    throw new UiBundleError(
      `the web UI could not be fetched: ${detail}\n` +
        'Check the network and run `svc setup` again, or copy the folder airflow/ui/dist of the package ' +
        `${requirement} here and set ui.dist_dir (SVC_UI_DIST_DIR) to it.`,
      { cause: error },
    );
  }
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new UiBundleError('the package of the web UI was not there after its download');
  return join(folder, wheel);
}

/** Compresses the files once, so that no request has to. */
async function compressAll(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const compress = async (name: string): Promise<void> => {
    const path = join(folder, name);
    if (!COMPRESSED.has(extname(name)) || (await stat(path)).size < WORTH_BYTES) return;
    const content = await readFile(path);
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
      promisify(gzip)(content, { level: 6 }),
    ]);
    await writeFile(`${path}${ENCODED_EXTENSIONS.br}`, br);
    await writeFile(`${path}${ENCODED_EXTENSIONS.gzip}`, gz);
  };
  await Promise.all(names.map(compress));
}
