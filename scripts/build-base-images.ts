// Builds the images that DAG images are built on: one for each Python line that is still published on the day of the
// release, each for every platform.
//
//   node scripts/build-base-images.ts                                              # for this machine only
//   node scripts/build-base-images.ts --repository registry.example.com/svc-base --push
//
//   --line 3.12              only this line; may be repeated
//   --platform linux/arm64   only this platform; may be repeated (others than this machine's need emulation)
//   --release-date <date>    instead of today
//   --builder podman         instead of the first tool that works
//
// Each image is named <repository>:<line>-<version>. What was pushed is printed with its digest, which is what to sign.

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TOOL_NAMES, findContainerTool } from '@svc/cli/build/container-tool.ts';
import type { ToolName } from '@svc/cli/build/container-tool.ts';
import { isLocalRegistry } from '@svc/cli/build/image-name.ts';
import { runBuild } from '@svc/cli/build/run-build.ts';
import { VERSION } from '@svc/cli/version.ts';
import { DEFAULT_BASE_REPOSITORY } from '@svc/spec/project/base-images.ts';
import { PYTHON_LINES } from '@svc/spec/project/python-lines.ts';
import type { PythonLine } from '@svc/spec/project/python-lines.ts';

const ROOT = join(import.meta.dirname, '..');
const PLATFORMS = ['linux/amd64', 'linux/arm64'];

/** A release cut after a line's last day ships no image for it. */
export function publishedLines(releaseDate: string): PythonLine[] {
  return (Object.keys(PYTHON_LINES) as PythonLine[]).filter((line) => {
    const { publishedUntil } = PYTHON_LINES[line];
    return publishedUntil === null || releaseDate <= publishedUntil;
  });
}

export interface BaseImagesOptions {
  readonly lines: readonly PythonLine[];
  readonly repository: string;
  readonly platforms: readonly string[];
  readonly push: boolean;
  readonly builder?: ToolName | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLine: (line: string) => void;
}

/** Name and digest of each; null when it was not pushed. */
export async function buildBaseImages(options: BaseImagesOptions): Promise<{ image: string; digest: string | null }[]> {
  const { repository, platforms, push, env, onLine } = options;
  const tool = await findContainerTool({ env, wanted: options.builder });
  const built: { image: string; digest: string | null }[] = [];
  for (const line of options.lines) {
    const image = `${repository}:${line}-${VERSION}`;
    const buildFile = 'deploy/base-images/Dockerfile';
    const build = {
      image,
      platforms,
      push,
      buildFile,
      ignoreFile: `${buildFile}.dockerignore`,
      buildArguments: { PYTHON_LINE: line },
      isLocalRegistry: isLocalRegistry(repository.split('/', 1)[0]),
    };
    const explain = (step: string, failure: { message: string; lastLines: readonly string[] }): Error =>
      new Error([`${step} of ${image} failed: ${failure.message}`, ...failure.lastLines].join('\n'));
    built.push({ image, digest: await runBuild({ tool: tool.name, build, directory: ROOT, env, onLine, explain }) });
  }
  return built;
}

/** What the command line asks for. */
export function readOptions(argv: readonly string[], today: string): Omit<BaseImagesOptions, 'env' | 'onLine'> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      repository: { type: 'string', default: DEFAULT_BASE_REPOSITORY },
      push: { type: 'boolean', default: false },
      line: { type: 'string', multiple: true },
      platform: { type: 'string', multiple: true },
      'release-date': { type: 'string', default: today },
      builder: { type: 'string' },
    },
  });
  const releaseDate = values['release-date'];
  if (!/^\d{4}-\d{2}-\d{2}$/.test(releaseDate)) throw new Error(`--release-date ${releaseDate} is not YYYY-MM-DD`);
  const published = publishedLines(releaseDate);
  const lines = published.filter((line) => values.line?.includes(line) ?? true);
  const unknown = values.line?.find((line) => !(published as string[]).includes(line));
  if (unknown !== undefined) {
    throw new Error(`--line ${unknown}: a release of ${releaseDate} has images for ${published.join(', ')}`);
  }
  const builder = TOOL_NAMES.find((name) => name === values.builder);
  if (values.builder !== undefined && builder === undefined) {
    throw new Error(`--builder ${values.builder} is none of ${TOOL_NAMES.join(', ')}`);
  }
  const here = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const platforms = values.platform ?? (values.push ? PLATFORMS : [here]);
  return { lines, repository: values.repository, platforms, push: values.push, builder };
}

if (import.meta.main) {
  const options = readOptions(process.argv.slice(2), new Date().toISOString().slice(0, 10));
  const built = await buildBaseImages({ ...options, env: process.env, onLine: (line) => console.error(line) });
  for (const { image, digest } of built) console.log(digest === null ? image : `${image}@${digest}`);
}
