/** Explains a failure of a container tool: the step that failed, the last lines of the tool, and what to do. */
import { PYTHON_LINES } from '@svc/spec/project/python-lines.ts';
import type { PythonLine } from '@svc/spec/project/python-lines.ts';
import { CliError } from '../cli-error.ts';
import type { Project } from './build-file.ts';
import type { ToolFailure } from './run-tool.ts';
import type { ToolCommand } from './tool-commands.ts';

type FailedStep = ToolCommand['step'] | 'login';

export type FailureContext = {
  readonly step: FailedStep;
  readonly image: string;
  /** Undefined if the project has its own build file, whose base is unknown. */
  readonly baseImage: string | undefined;
  readonly project: Pick<Project, 'base_image' | 'registry'> & { readonly python_version: PythonLine };
  readonly platforms: readonly string[];
  /** The date of the build, which distinguishes an unpublished Python line from a wrong name. */
  readonly today: string;
};

const QUOTED_LINES = 15;

const DOING: Record<FailedStep, string> = {
  login: 'logging in to the registry of',
  build: 'building',
  tag: 'tagging',
  push: 'pushing',
  tidy: 'tidying up after',
};

export function explainFailure(failure: ToolFailure, context: FailureContext): CliError {
  const quoted = failure.lastLines.slice(-QUOTED_LINES).map((line) => `  ${line}`);
  const message = [`${DOING[context.step]} ${context.image} failed: ${failure.message}`, ...quoted].join('\n');
  const hint = hintFor(failure.lastLines.join('\n'), context);
  return new CliError(message, { cause: failure, ...(hint !== undefined && { hint }) });
}

/** Checks specific causes first. The patterns are messages of docker, podman and buildah. */
function hintFor(output: string, context: FailureContext): string | undefined {
  if (/exec format error/i.test(output)) {
    return `This machine cannot run programs of every platform in ${context.platforms.join(', ')}. Install emulation (Debian: qemu-user-static), or list fewer in build.platforms.`;
  }
  if (
    /multi-platform build is not supported|multiple platforms feature is currently not supported|exporter does not currently support exporting manifest lists/i.test(
      output,
    )
  ) {
    return 'This Docker builder makes one platform at a time. Create one that can ("docker buildx create --use") and push, or use podman or buildah.';
  }
  // Docker builds and pushes in one command.
  const isAboutRegistry =
    context.step !== 'build' || /failed to push|pushing (\S+ with docker|layers|manifest)/i.test(output);
  if (isPullFailure(output, context.baseImage)) return pullHint(context);
  if (
    isAboutRegistry &&
    /unauthorized|authentication required|no basic auth credentials|access denied|denied:|forbidden|invalid username/i.test(
      output,
    )
  ) {
    return `The registry refuses the credentials. registry.auth_method is ${context.project.registry.auth_method}: ${CREDENTIALS[context.project.registry.auth_method]}`;
  }
  if (
    isAboutRegistry &&
    /connection refused|no such host|i\/o timeout|server gave HTTP response to HTTPS client/i.test(output)
  ) {
    return `Check registry.url (${context.project.registry.url ?? 'not set'}) and that the registry can be reached from here.`;
  }
  return undefined;
}

const CREDENTIALS: Record<Project['registry']['auth_method'], string> = {
  docker_config: 'log in with the container tool ("docker login" or "podman login").',
  environment: 'check SVC_REGISTRY_USERNAME and SVC_REGISTRY_PASSWORD.',
  none: 'set it to docker_config or environment.',
};

function isPullFailure(output: string, baseImage: string | undefined): boolean {
  if (baseImage === undefined) return false;
  // Removes tag and digest; the port of a registry stays.
  const repository = baseImage.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
  // Both must be on one line. A package that is not found is unrelated to the base image that an earlier line names.
  return output.split('\n').some((line) => line.includes(repository) && PULL_FAILURE.test(line));
}

const PULL_FAILURE =
  /manifest unknown|not found|short-name|pull access denied|failed to resolve|unable to copy from source|initializing source|pinging container registry|no image found in|creating build container/i;

function pullHint(context: FailureContext): string {
  const { project, baseImage } = context;
  if (project.base_image !== undefined) {
    return `The base image ${baseImage} could not be pulled. Check base_image, and log in to its registry with the container tool.`;
  }
  const { publishedUntil } = PYTHON_LINES[project.python_version];
  if (publishedUntil !== null && publishedUntil < context.today) {
    return `There is no base image ${baseImage}: images for Python ${project.python_version} were published until ${publishedUntil}. Set python_version to 3.11 or later.`;
  }
  return `The base image ${baseImage} could not be pulled. Check that its registry can be reached; name another with --base-repository, or make your own with "svc images build".`;
}
