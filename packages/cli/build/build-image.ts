/** Builds the image of a DAG project, and pushes it when asked to. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError, usageError } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import { atProcessEnd } from './at-process-end.ts';
import { baseImage, renderBuildFile } from './build-file.ts';
import type { BuildFileInput, Project } from './build-file.ts';
import { findContainerTool } from './container-tool.ts';
import type { ContainerTool, ToolName } from './container-tool.ts';
import { explainFailure } from './explain-failure.ts';
import type { FailedStep } from './explain-failure.ts';
import { mergeIgnoreFile, readIfPresent, readOwnIgnoreFile, withBuildFiles } from './ignore-file.ts';
import { imageRepository, imageTag, isLocalRegistry } from './image-name.ts';
import type { TagSource } from './image-name.ts';
import { findProjectBuildFile, overriddenKeys } from './project-build-file.ts';
import { toolEnvironment, withRegistryLogin } from './registry-login.ts';
import { ToolFailure, runTool } from './run-tool.ts';
import { buildCommands, readDigest } from './tool-commands.ts';
import type { ImageBuild } from './tool-commands.ts';

export type BuildImageOptions = Omit<BuildFileInput, 'project'> & {
  readonly projectDirectory: string;
  readonly project: Project;
  readonly tagSource: TagSource;
  readonly push: boolean;
  /** Instead of `build.platforms`. */
  readonly platforms?: readonly string[] | undefined;
  /** Instead of the first container tool that works. */
  readonly builder?: ToolName | undefined;
  readonly env: Environment;
  /** The tool's output as it comes. Must not throw. */
  readonly onLine?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type BuiltImage = {
  /** Repository and tag. */
  readonly image: string;
  /** Of the pushed image, as the registry knows it; null when nothing was pushed. */
  readonly digest: string | null;
  /** What to register: pinned to the digest once there is one, since a tag can be moved. */
  readonly reference: string;
  readonly tool: ContainerTool;
  readonly warnings: readonly string[];
};

const TIDY_TIMEOUT_MS = 60_000;

export async function buildImage(options: BuildImageOptions): Promise<BuiltImage> {
  const { project, projectDirectory, env, signal } = options;
  const repository = imageRepository(project);
  if (options.push && repository.registry === undefined) {
    throw usageError(
      'registry.url is not set, so there is nowhere to push',
      'Set it in svc.yaml: registry.example.com/dags',
    );
  }
  const plan = planBuild(options);
  const tag = await imageTag({
    strategy: project.registry.tag_strategy,
    source: options.tagSource,
    directory: projectDirectory,
    env,
    signal,
  });
  const tool = await findContainerTool({ env: toolEnvironment(env), wanted: options.builder, signal });
  const image = `${repository.name}:${tag}`;
  const registry = options.push ? repository.registry : undefined;
  const explained = explaining({ options, plan, image });

  const digest = await explained('login', () =>
    withRegistryLogin({ tool: tool.name, method: project.registry.auth_method, registry, env, signal }, (toolEnv) =>
      withBuildFiles(
        { directory: projectDirectory, buildFile: plan.buildFile, ignoreFile: ignoreFileFor(tool.name, options, plan) },
        (files) => {
          const build = {
            ...files,
            image,
            platforms: plan.platforms,
            push: options.push,
            isLocalRegistry: isLocalRegistry(registry),
          };
          return runBuild({ tool: tool.name, build, options, env: toolEnv, explained });
        },
      ),
    ),
  );
  const reference = digest === null ? image : `${repository.name}@${digest}`;
  return { image, digest, reference, tool, warnings: plan.warnings };
}

type Plan = {
  readonly buildFile: string;
  /** Name of the project's own build file, if it is that. */
  readonly ownName: string | undefined;
  readonly baseImage: string | undefined;
  readonly platforms: readonly string[];
  readonly warnings: readonly string[];
};

function planBuild(options: BuildImageOptions): Plan {
  const { project } = options;
  const own = findProjectBuildFile(options.projectDirectory);
  return {
    buildFile: own === undefined ? renderBuildFile(options) : own.text,
    ownName: own?.name,
    baseImage: own === undefined ? baseImage(options) : undefined,
    platforms: [...new Set(options.platforms ?? project.build.platforms)],
    warnings: own === undefined ? [] : overriddenKeys(project, own.name),
  };
}

function ignoreFileFor(tool: ToolName, options: BuildImageOptions, plan: Plan): string {
  const own = readOwnIgnoreFile({
    directory: options.projectDirectory,
    buildFileName: plan.ownName,
    firstChoice: tool === 'docker' ? '.dockerignore' : '.containerignore',
  });
  return mergeIgnoreFile(own, options.project.exclude_paths);
}

type Explained = <Result>(step: FailedStep, work: () => Promise<Result>) => Promise<Result>;

function explaining(context: { options: BuildImageOptions; plan: Plan; image: string }): Explained {
  const { options, plan, image } = context;
  const today = new Date().toISOString().slice(0, 10);
  return async (step, work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      const { baseImage, platforms } = plan;
      throw explainFailure(error, { step, image, baseImage, project: options.project, platforms, today });
    }
  };
}

async function runBuild(context: {
  tool: ToolName;
  build: Omit<ImageBuild, 'digestFile' | 'listName'>;
  options: BuildImageOptions;
  env: Environment;
  explained: Explained;
}): Promise<string | null> {
  const { tool, options, env, explained } = context;
  const directory = mkdtempSync(join(tmpdir(), 'svc-image-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  using _ = atProcessEnd(remove);
  const build: ImageBuild = {
    ...context.build,
    digestFile: join(directory, 'digest'),
    listName: `localhost/svc-list:${randomBytes(8).toString('hex')}`,
  };
  const commands = buildCommands(tool, build);
  const base = { program: tool, directory: options.projectDirectory, env };
  try {
    for (const { step, arguments: words } of commands) {
      if (step === 'tidy') continue;
      await explained(step, () =>
        runTool({
          ...base,
          arguments: words,
          signal: options.signal,
          ...(options.onLine && { onLine: options.onLine }),
        }),
      );
    }
    return build.push ? pushedDigest(tool, build) : null;
  } finally {
    for (const { arguments: words } of commands.filter(({ step }) => step === 'tidy')) {
      // Also after a failure, when there may be nothing to tidy up.
      await runTool({ ...base, arguments: words, timeoutMs: TIDY_TIMEOUT_MS }).catch(() => {});
    }
    remove();
  }
}

/** Some releases of buildah end with success when pushing a list has failed; only a digest proves that something arrived. */
function pushedDigest(tool: ToolName, build: ImageBuild): string {
  const digest = readDigest(tool, readIfPresent(build.digestFile) ?? '');
  if (digest !== undefined) return digest;
  throw new CliError(`${tool} ended without an error, but names no digest for ${build.image}: it was not pushed`, {
    hint: 'Check that the registry can be reached, and try another tool with --builder.',
  });
}
