// Values that follow from other values. Each fallback of the reference page is implemented here once.

import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Config } from './keys.ts';

/** Returns the RPC address that agents connect to: the configured one, or that of the listener. */
export function agentControlPlaneAddr(config: Config): string {
  return config.executor.agentControlPlaneAddr === '' ? config.server.grpcAddr : config.executor.agentControlPlaneAddr;
}

const DEFAULT_AUTO_REFRESH_SECONDS = 30;

export function autoRefreshSeconds(config: Config): number {
  const seconds = config.ui.autoRefreshIntervalSeconds;
  return seconds === 0 ? DEFAULT_AUTO_REFRESH_SECONDS : seconds;
}

/** Returns the number of workers of the dispatch queue, at least one. 0 means that dispatch runs inside the tick. */
export function dispatchWorkers(config: Config): number {
  return config.scheduler.dispatchBufferSize <= 0 ? 0 : Math.max(1, config.scheduler.dispatchWorkers);
}

/** Returns the path of `server.base_url` without its final slash: empty for the root, otherwise for example `/svc`. */
export function basePath(config: Config): string {
  const path = URL.parse(config.server.baseUrl)?.pathname ?? '';
  return path.replace(/\/+$/, '');
}

/** Returns the edition for which the UI shows a badge. Any other text shows none. */
export function editionOf(config: Config): 'lite' | 'pro' | undefined {
  const { edition } = config.ui;
  return edition === 'lite' || edition === 'pro' ? edition : undefined;
}

/**
 * True if an operator must create the first user. Single sign-on creates users itself, and without authentication no
 * user is needed.
 */
export const needsFirstUser = (config: Config): boolean => config.auth.provider === 'jwt' && !config.auth.devNoAuth;

/** Returns the arguments of the external secrets backend. An empty value means that there are none. */
export function secretsBackendKwargs(config: Config): string {
  return config.secrets.backendKwargs.trim() === '' ? '{}' : config.secrets.backendKwargs;
}

/** Returns the folder with the repositories and files of bundles. */
export function bundleCacheFolder(config: Config, env: Readonly<Record<string, string | undefined>>): string {
  const { cacheDir } = config.bundles;
  const home = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return cacheDir === '' ? join(home, 'svc', 'bundles') : cacheDir;
}
