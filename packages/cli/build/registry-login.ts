// Credentials for the registry, by `registry.auth_method`:
//
//   docker_config   the configuration of the container tool, unchanged
//   environment     SVC_REGISTRY_USERNAME and SVC_REGISTRY_PASSWORD
//   none            the tool sees no credentials at all
//
// The last two use a copy of the tool's configuration in a private directory, which is removed after the build. No
// password from the environment stays on this machine, and no login of a person is overwritten.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { usageError } from '../cli-error.ts';
import type { Environment } from '../context.ts';
import { atProcessEnd } from './at-process-end.ts';
import type { Project } from './build-file.ts';
import type { ToolName } from './container-tool.ts';
import { readIfPresent } from './ignore-file.ts';
import { isLocalRegistry } from './image-name.ts';
import { removeLeftovers, temporaryName } from './leftovers.ts';
import { runTool } from './run-tool.ts';
import { loginArguments } from './tool-commands.ts';

const PREFIX = 'svc-login-';

export type LoginOptions = {
  readonly tool: ToolName;
  readonly method: Project['registry']['auth_method'];
  /** Undefined if nothing is pushed. */
  readonly registry: string | undefined;
  /** The environment, with our own variables. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
};

/** Calls `use` with the environment in which the tool finds its credentials. It contains none of our variables. */
export async function withRegistryLogin<Result>(
  options: LoginOptions,
  use: (env: Environment) => Promise<Result>,
): Promise<Result> {
  const { method, tool, registry, signal } = options;
  const env = toolEnvironment(options.env);
  if (method === 'docker_config' || registry === undefined) return use(env);
  const credentials = method === 'environment' ? readCredentials(options.env) : undefined;

  removeLeftovers(tmpdir(), PREFIX);
  const directory = join(tmpdir(), temporaryName(PREFIX));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  using _ = atProcessEnd(remove);
  try {
    mkdirSync(directory, { mode: 0o700 });
    const loginEnv = privateConfiguration({ tool, env, directory, registry: credentials && registry });
    if (credentials !== undefined) {
      await runTool({
        program: tool,
        arguments: loginArguments(tool, {
          registry,
          username: credentials.username,
          isLocalRegistry: isLocalRegistry(registry),
        }),
        env: loginEnv,
        input: credentials.password,
        signal,
      });
    }
    return await use(loginEnv);
  } finally {
    remove();
  }
}

/** Removes our own variables, above all the password. */
export function toolEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SVC_')));
}

function readCredentials(env: Environment): { username: string; password: string } {
  const username = env['SVC_REGISTRY_USERNAME'] ?? '';
  const password = env['SVC_REGISTRY_PASSWORD'] ?? '';
  if (username === '' || password === '') {
    throw usageError(
      'registry.auth_method is environment, but SVC_REGISTRY_USERNAME and SVC_REGISTRY_PASSWORD are not both set',
      'Set both, or set registry.auth_method to docker_config to use the login of the container tool.',
    );
  }
  return { username, password };
}

type Configuration = { auths?: Record<string, unknown>; credHelpers?: Record<string, string>; credsStore?: string };

/**
 * Copies the tool's configuration, and returns the variable that points the tool to it. `registry` is the registry of
 * the next login.
 */
function privateConfiguration(options: {
  tool: ToolName;
  env: Environment;
  directory: string;
  registry: string | undefined;
}): Environment {
  const { tool, env, directory, registry } = options;
  const own = join(directory, 'config.json');
  const dockerDirectory = env['DOCKER_CONFIG'] ?? join(env['HOME'] ?? homedir(), '.docker');
  const source = tool === 'docker' ? join(dockerDirectory, 'config.json') : authFileOf(env, dockerDirectory);
  const copy = configurationFor({ configuration: readConfiguration(source), tool, registry });
  writeFileSync(own, JSON.stringify(copy), { mode: 0o600 });
  if (tool !== 'docker') return { ...env, REGISTRY_AUTH_FILE: own };
  linkTheRest(dockerDirectory, directory);
  return { ...env, DOCKER_CONFIG: directory };
}

/** The login of this registry must be stored in the file. A helper or a keychain would keep it. */
function configurationFor(options: {
  configuration: Configuration;
  tool: ToolName;
  registry: string | undefined;
}): Configuration {
  const { configuration, tool, registry } = options;
  if (registry === undefined) {
    const { auths: _auths, credHelpers: _helpers, credsStore: _store, ...rest } = configuration;
    return rest;
  }
  const { [registry]: _helper, ...credHelpers } = configuration.credHelpers ?? {};
  // docker reads an empty name as the file. podman would search for a program without a name.
  return { ...configuration, credHelpers: tool === 'docker' ? { ...credHelpers, [registry]: '' } : credHelpers };
}

/** Returns the file of podman and buildah, in their order of search. */
function authFileOf(env: Environment, dockerDirectory: string): string {
  if (env['REGISTRY_AUTH_FILE'] !== undefined) return env['REGISTRY_AUTH_FILE'];
  if (env['DOCKER_CONFIG'] !== undefined) return join(dockerDirectory, 'config.json');
  const runtime = env['XDG_RUNTIME_DIR'];
  const places = [
    runtime === undefined
      ? `/run/containers/${process.getuid?.() ?? 0}/auth.json`
      : join(runtime, 'containers/auth.json'),
    join(env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config'), 'containers/auth.json'),
  ];
  return places.find((path) => existsSync(path)) ?? join(dockerDirectory, 'config.json');
}

function readConfiguration(path: string): Configuration {
  const text = readIfPresent(path);
  if (text === undefined || text.trim() === '') return {};
  try {
    return JSON.parse(text) as Configuration;
  } catch (error) {
    throw usageError(`${path} is not valid JSON: ${(error as Error).message}`);
  }
}

/** Links plugins (such as buildx), contexts and builder instances, which are next to the logins and still needed. */
function linkTheRest(from: string, to: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  for (const name of names) if (name !== 'config.json') symlinkSync(join(from, name), join(to, name));
}
