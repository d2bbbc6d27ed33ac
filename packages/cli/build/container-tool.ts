/** Selects the program that builds images on this machine: docker, podman or buildah, the first that works. */
import { CliError, EXIT } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import { ToolFailure, runTool } from './run-tool.ts';

export const TOOL_NAMES = ['docker', 'podman', 'buildah'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

export type ContainerTool = { readonly name: ToolName; readonly version: string };

/** An engine may be stopped or still starting. */
const ANSWER_TIMEOUT_MS = 30_000;

const INSTALL_HINT = 'Install podman, buildah or Docker with its buildx plugin, and see that the Docker engine runs.';

/**
 * `wanted` names the tool to use, as `--builder` does. Otherwise each tool is checked in order. The check is whether it
 * works, not only whether it exists: a Docker client without an engine builds nothing.
 */
export async function findContainerTool(options: {
  env: Environment;
  wanted?: ToolName | undefined;
  signal?: AbortSignal | undefined;
}): Promise<ContainerTool> {
  const { env, wanted, signal } = options;
  const refusals: string[] = [];
  for (const name of wanted === undefined ? TOOL_NAMES : [wanted]) {
    try {
      return { name, version: await CHECKS[name]((program, ...args) => ask({ program, args, env, signal })) };
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      refusals.push(`  - ${name}: ${reasonOf(error)}`);
    }
  }
  const heading = wanted === undefined ? 'no container tool can build the image' : `${wanted} cannot build the image`;
  throw new CliError(`${heading}:\n${refusals.join('\n')}`, { exitCode: EXIT.usage, hint: INSTALL_HINT });
}

type Ask = (program: string, ...args: string[]) => Promise<string>;

/** Each check returns the tool's version, or fails as the build would. */
const CHECKS: Record<ToolName, (ask: Ask) => Promise<string>> = {
  async docker(ask) {
    const version = await ask('docker', 'version', '--format', '{{.Server.Version}}');
    // The builder before BuildKit reads only .dockerignore, so files in exclude_paths would end up in the image.
    await ask('docker', 'buildx', 'version').catch((error: unknown) => {
      throw new ToolFailure('the buildx plugin is missing', { cause: error });
    });
    return version;
  },
  podman: (ask) => ask('podman', 'info', '--format', '{{.Version.Version}}'),
  async buildah(ask) {
    await ask('buildah', 'info');
    return (await ask('buildah', '--version')).replace(/^buildah version (\S+).*$/, '$1');
  },
};

async function ask(options: {
  program: string;
  args: readonly string[];
  env: Environment;
  signal: AbortSignal | undefined;
}): Promise<string> {
  const { program, args, env, signal } = options;
  const output = await runTool({ program, arguments: args, env, signal, timeoutMs: ANSWER_TIMEOUT_MS });
  return (output.trim().split('\n')[0] ?? '').trim();
}

function reasonOf(failure: ToolFailure): string {
  if (failure.isMissing) return 'not installed';
  return failure.lastLines.at(-1) ?? failure.message;
}
