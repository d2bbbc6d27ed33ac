/**
 * Our own images, for operators who do not use the published ones: base images for DAG images, one for each Python
 * line, and the image of the control plane. The build files are in `deploy`.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BASE_REPOSITORY, baseImageName } from '@svc/spec/project/base-images.ts';
import { PYTHON_LINES } from '@svc/spec/project/python-lines.ts';
import type { PythonLine } from '@svc/spec/project/python-lines.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import { VERSION } from '../version.ts';
import { findContainerTool } from './container-tool.ts';
import type { ToolName } from './container-tool.ts';
import { isLocalRegistry } from './image-name.ts';
import { toolEnvironment } from './registry-login.ts';
import { runBuild } from './run-build.ts';

/** This installation. A checkout contains the build files and what they copy. */
export const OWN_SOURCE = join(import.meta.dirname, '..', '..', '..');
const CONTROL_PLANE = 'svc-control-plane';
const BUILD_FILES = { base: 'deploy/base-images/Dockerfile', 'control-plane': 'deploy/control-plane/Dockerfile' };
const RELEASE_PLATFORMS = ['linux/amd64', 'linux/arm64'];

export type ImageKind = keyof typeof BUILD_FILES;

/** The request of the command line. */
export type OwnImagesRequest = {
  readonly kinds: readonly ImageKind[];
  /** The repository of the base images. */
  readonly repository: string;
  /** Undefined means next to the base images. */
  readonly controlPlaneRepository?: string | undefined;
  /** Undefined means every line that a release of `today` has. */
  readonly lines?: readonly string[] | undefined;
  /** Undefined means all platforms of a release when pushing, otherwise the platform of this machine. */
  readonly platforms?: readonly string[] | undefined;
  readonly push: boolean;
  /** Replaces the official images that ours start from. */
  readonly nodeImage?: string | undefined;
  readonly pythonImage?: string | undefined;
  readonly today: string;
};

/** One build. */
export type PlannedImage = {
  readonly image: string;
  readonly buildFile: string;
  readonly buildArguments: Readonly<Record<string, string>>;
  readonly platforms: readonly string[];
};

export type BuiltOwnImage = { readonly image: string; readonly digest: string | null };

/** Returns the lines of a release. After the last day of a line, a release contains no image for it. */
export function publishedLines(releaseDate: string): PythonLine[] {
  return (Object.keys(PYTHON_LINES) as PythonLine[]).filter((line) => {
    const { publishedUntil } = PYTHON_LINES[line];
    return publishedUntil === null || releaseDate <= publishedUntil;
  });
}

export function planImages(request: OwnImagesRequest): PlannedImage[] {
  const { kinds, repository, push, nodeImage, pythonImage } = request;
  const lines = linesOf(request);
  const here = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const platforms = request.platforms ?? (push ? RELEASE_PLATFORMS : [here]);
  const controlPlane = request.controlPlaneRepository ?? repository.replace(/[^/]*$/, CONTROL_PLANE);
  checkRepository('--repository', repository, push && kinds.includes('base'));
  checkRepository('--control-plane-repository', controlPlane, push && kinds.includes('control-plane'));
  if (pythonImage !== undefined && kinds.includes('base') && lines.length > 1) {
    throw usageError('--python-image is of one Python line', `name that line with --line: ${lines.join(', ')}`);
  }
  const sources = {
    ...(nodeImage !== undefined && { NODE_IMAGE: nodeImage }),
    ...(pythonImage !== undefined && { PYTHON_IMAGE: pythonImage }),
  };
  const plan: PlannedImage[] = [];
  if (kinds.includes('base')) {
    for (const line of lines) {
      const image = baseImageName(repository, line, VERSION);
      plan.push({ image, buildFile: BUILD_FILES.base, buildArguments: { PYTHON_LINE: line, ...sources }, platforms });
    }
  }
  if (kinds.includes('control-plane')) {
    const image = `${controlPlane}:${VERSION}`;
    plan.push({ image, buildFile: BUILD_FILES['control-plane'], buildArguments: sources, platforms });
  }
  return plan;
}

function linesOf({ lines, today }: OwnImagesRequest): readonly PythonLine[] {
  const published = publishedLines(today);
  const unknown = lines?.find((line) => !(published as string[]).includes(line));
  if (unknown !== undefined) throw usageError(`--line ${unknown}: there are images for ${published.join(', ')}`);
  return published.filter((line) => lines?.includes(line) ?? true);
}

function checkRepository(from: string, value: string, isPushed: boolean): void {
  if (!BASE_REPOSITORY.test(value)) {
    throw usageError(
      `${from} is ${JSON.stringify(value)}: give a repository without a tag, such as registry.example.com/svc-base`,
    );
  }
  // Without a host, a tool would read it as a name on a public registry.
  if (isPushed && !/^(?:localhost|[^/]*[.:][^/]*)\//.test(value)) {
    throw usageError(`${from} is ${value}, which names no registry to push to`, 'give one with its host, such as registry.example.com/svc-base'); // prettier-ignore
  }
}

export async function buildOwnImages(options: {
  plan: readonly PlannedImage[];
  push: boolean;
  source: string;
  builder?: ToolName | undefined;
  env: Environment;
  onLine: (line: string) => void;
  signal?: AbortSignal | undefined;
}): Promise<BuiltOwnImage[]> {
  const { plan, push, source, onLine, signal } = options;
  const missing = plan.map(({ buildFile }) => buildFile).find((file) => !existsSync(join(source, file)));
  if (missing !== undefined) {
    throw usageError(
      `${source} has no ${missing}: images are built from the source of svc`,
      `get the source of version ${VERSION} and name its folder with --source`,
    );
  }
  const env = toolEnvironment(options.env);
  const tool = await findContainerTool({ env, wanted: options.builder, signal });
  const built: BuiltOwnImage[] = [];
  for (const { image, ...rest } of plan) {
    const build = {
      ...rest,
      image,
      push,
      ignoreFile: `${rest.buildFile}.dockerignore`,
      isLocalRegistry: isLocalRegistry(image.split('/', 1)[0]),
    };
    const explain = (step: string, failure: { message: string; lastLines: readonly string[] }): Error =>
      new CliError([`${step} of ${image} failed: ${failure.message}`, ...failure.lastLines.slice(-15)].join('\n  '));
    const digest = await runBuild({ tool: tool.name, build, directory: source, env, onLine, signal, explain });
    built.push({ image, digest });
  }
  return built;
}
