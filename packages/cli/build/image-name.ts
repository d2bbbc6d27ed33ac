/** The name of an image: its registry, the DAG id, and a tag by `registry.tag_strategy`. */
import { usageError } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import type { Project } from './build-file.ts';
import { BUILD_FILE_PREFIX } from './ignore-file.ts';
import { ToolFailure, runTool } from './run-tool.ts';

/** Names that the registry protocol accepts: a host, then lower-case path components. */
const HOST =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\d{1,5})?$/;
const PATH_COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const MAX_REPOSITORY = 255;

/** The registry of images that are not pushed. The name prevents an accidental push to a public registry. */
const LOCAL_REGISTRY = 'localhost';

export type Repository = {
  /** Registry, path and DAG id. */
  readonly name: string;
  /** Host and port for the login. Undefined for an image that only this machine has. */
  readonly registry: string | undefined;
};

export function imageRepository(project: Pick<Project, 'dag_id' | 'registry'>): Repository {
  const { url } = project.registry;
  const dag = project.dag_id.toLowerCase();
  if (!PATH_COMPONENT.test(dag)) {
    throw usageError(
      `dag_id ${project.dag_id} cannot be part of an image name`,
      'Rename the DAG: registries take letters and digits, joined by -, _ or __.',
    );
  }
  const name = `${url === undefined ? LOCAL_REGISTRY : checkedRegistry(url)}/${dag}`;
  if (name.length > MAX_REPOSITORY) {
    throw usageError(`the image name ${name} has ${name.length} characters; registries take ${MAX_REPOSITORY}`);
  }
  return { name, registry: url === undefined ? undefined : name.split('/', 1)[0] };
}

function checkedRegistry(url: string): string {
  if (url.includes('://')) {
    throw usageError(`registry.url is ${url}: write it without ${url.split('://', 1)[0]}://`);
  }
  const [host = '', ...path] = url.replace(/\/+$/, '').split('/');
  // A host needs a dot, a port or the name localhost. Otherwise tools read it as a path on a public registry.
  const isHost = HOST.test(host) && (/[.:]/.test(host) || host === LOCAL_REGISTRY);
  if (!isHost) throw usageError(`registry.url is ${url}: it must begin with a host, such as registry.example.com/dags`);
  const wrong = path.find((part) => !PATH_COMPONENT.test(part));
  if (wrong !== undefined) {
    throw usageError(
      `registry.url is ${url}: a registry does not take ${JSON.stringify(wrong)} in a path (lower case only)`,
    );
  }
  return [host, ...path].join('/');
}

/** True for a registry on this machine, which may use plain HTTP in Docker and here. */
export function isLocalRegistry(registry: string | undefined): boolean {
  return registry !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?$/.test(registry);
}

export type TagSource = {
  /** The number under which the version will be registered. */
  readonly versionNumber?: number | undefined;
  /** The hash of the compiled spec in hex. */
  readonly contentHash?: string | undefined;
};

export async function imageTag(options: {
  strategy: Project['registry']['tag_strategy'];
  source: TagSource;
  directory: string;
  env: Environment;
  signal?: AbortSignal | undefined;
}): Promise<string> {
  const { strategy, source } = options;
  switch (strategy) {
    case 'version': {
      const { versionNumber } = source;
      if (versionNumber === undefined || !Number.isSafeInteger(versionNumber) || versionNumber < 1) {
        throw usageError(
          'registry.tag_strategy is version, but the number of the next version is not known',
          'It comes from the control plane: log in to it, or set registry.tag_strategy to content or git.',
        );
      }
      return `v${versionNumber}`;
    }
    case 'content': {
      const hash = source.contentHash ?? '';
      if (!/^[0-9a-f]{12,}$/.test(hash))
        throw usageError(`the content hash ${JSON.stringify(hash)} is not hexadecimal`);
      return hash.slice(0, 12);
    }
    case 'git':
      return gitTag(options);
  }
}

/**
 * Returns the commit, and marks whether the built content differs from it. Only the DAG directory counts, because the
 * image contains nothing else.
 */
async function gitTag(options: {
  directory: string;
  env: Environment;
  signal?: AbortSignal | undefined;
}): Promise<string> {
  const { directory, env, signal } = options;
  const git = (...words: string[]): Promise<string> =>
    runTool({
      program: 'git',
      arguments: ['--no-optional-locks', ...words],
      directory,
      env: { ...env, LC_ALL: 'C' },
      signal,
    });
  try {
    const commit = (await git('rev-parse', '--short=12', '--verify', 'HEAD')).trim();
    const changes = await git('status', '--porcelain', '--', '.', `:(exclude)${BUILD_FILE_PREFIX}*`);
    const tag = `${commit}${changes.trim() === '' ? '' : '-dirty'}`;
    if (!TAG.test(tag)) throw usageError(`git answered ${JSON.stringify(tag)}, which is no commit`);
    return tag;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    throw usageError(
      `registry.tag_strategy is git, but the commit of ${directory} cannot be read: ${error.lastLines.at(-1) ?? error.message}`,
      'Commit the project to a git repository, or set registry.tag_strategy to version or content.',
    );
  }
}
