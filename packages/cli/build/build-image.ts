/** Builds the image of a DAG project, and pushes it on request. */
import { usageError } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import { baseImage, leftoversOf, renderBuildFile } from './build-file.ts';
import type { BuildFileInput, Project } from './build-file.ts';
import { findContainerTool } from './container-tool.ts';
import type { ContainerTool, ToolName } from './container-tool.ts';
import { explainFailure } from './explain-failure.ts';
import type { FailureContext } from './explain-failure.ts';
import { mergeIgnoreFile, readOwnIgnoreFile, withBuildFiles } from './ignore-file.ts';
import { imageRepository, imageTag, isLocalRegistry } from './image-name.ts';
import type { TagSource } from './image-name.ts';
import { findProjectBuildFile, overriddenKeys } from './project-build-file.ts';
import { toolEnvironment, withRegistryLogin } from './registry-login.ts';
import { runBuild } from './run-build.ts';
import { ToolFailure } from './run-tool.ts';

export type BuildImageOptions = Omit<BuildFileInput, 'project'> & {
  readonly projectDirectory: string;
  readonly project: Project;
  readonly tagSource: TagSource;
  /** Directories of the dbt projects in it. */
  readonly dbtProjects?: readonly string[] | undefined;
  readonly push: boolean;
  /** Ignores the project's own build file, because it makes an image of Airflow. */
  readonly ignoresBuildFile?: boolean | undefined;
  /** Replaces `build.platforms`. */
  readonly platforms?: readonly string[] | undefined;
  /** The tool to use. The default is the first container tool that works. */
  readonly builder?: ToolName | undefined;
  readonly env: Environment;
  /** Receives each line of the tool's output. It must not throw. */
  readonly onLine?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type BuiltImage = {
  /** Repository and tag. */
  readonly image: string;
  /** The digest of the pushed image in the registry, or null if nothing was pushed. */
  readonly digest: string | null;
  /** The image to register. It is pinned to the digest if there is one, because a tag can be moved. */
  readonly reference: string;
  readonly tool: ContainerTool;
  readonly warnings: readonly string[];
};

export async function buildImage(options: BuildImageOptions): Promise<BuiltImage> {
  const { project, projectDirectory: directory, env, push, onLine, signal } = options;
  const repository = imageRepository(project);
  if (push && repository.registry === undefined) {
    throw usageError(
      'registry.url is not set, so there is nowhere to push',
      'Set it in svc.yaml: registry.example.com/dags',
    );
  }
  const plan = planBuild(options);
  const strategy = project.registry.tag_strategy;
  const cleanEnv = toolEnvironment(env);
  const tag = await imageTag({ strategy, source: options.tagSource, directory, env: cleanEnv, signal });
  const tool = await findContainerTool({ env: cleanEnv, wanted: options.builder, signal });
  const image = `${repository.name}:${tag}`;
  const registry = push ? repository.registry : undefined;
  const explain = (step: FailureContext['step'], failure: ToolFailure): Error =>
    explainFailure(failure, { ...plan, step, image, project, today: new Date().toISOString().slice(0, 10) });

  const login = { tool: tool.name, method: project.registry.auth_method, registry, env, signal };
  const { buildFile, platforms } = plan;
  const ignoreFile = ignoreFileFor(tool.name, options, plan);
  const digest = await withRegistryLogin(login, (toolEnv) =>
    withBuildFiles({ directory, buildFile, ignoreFile }, (files) => {
      const build = { ...files, image, platforms, push, isLocalRegistry: isLocalRegistry(registry) };
      return runBuild({ tool: tool.name, build, directory, env: toolEnv, onLine, signal, explain });
    }),
  ).catch((error: unknown) => {
    // Failures of the build itself are explained already.
    throw error instanceof ToolFailure ? explain('login', error) : error;
  });
  const reference = digest === null ? image : `${repository.name}@${digest}`;
  return { image, digest, reference, tool, warnings: plan.warnings };
}

type Plan = {
  readonly buildFile: string;
  /** The name of the project's own build file, if that file is used. */
  readonly ownName: string | undefined;
  readonly baseImage: string | undefined;
  readonly platforms: readonly string[];
  readonly warnings: readonly string[];
};

function planBuild(options: BuildImageOptions): Plan {
  const { project } = options;
  const own = options.ignoresBuildFile ? undefined : findProjectBuildFile(options.projectDirectory);
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
  return mergeIgnoreFile(own, [...options.project.exclude_paths, ...leftoversOf(options.dbtProjects ?? [])]);
}
