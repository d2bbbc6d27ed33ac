// Values that follow from other values. Each fallback the reference page promises is here once; nobody else
// re-implements "empty means …".

import type { Config } from './keys.ts';

/** The RPC address agents dial: the configured one, or the listener's own. */
export function agentControlPlaneAddr(config: Config): string {
  return config.executor.agentControlPlaneAddr === '' ? config.server.grpcAddr : config.executor.agentControlPlaneAddr;
}

const DEFAULT_AUTO_REFRESH_SECONDS = 30;

export function autoRefreshSeconds(config: Config): number {
  const seconds = config.ui.autoRefreshIntervalSeconds;
  return seconds === 0 ? DEFAULT_AUTO_REFRESH_SECONDS : seconds;
}

/** 0: dispatch happens inside the tick. Otherwise the number of workers behind the dispatch queue, at least one. */
export function dispatchWorkers(config: Config): number {
  return config.scheduler.dispatchBufferSize <= 0 ? 0 : Math.max(1, config.scheduler.dispatchWorkers);
}

/** Path of `server.base_url` without the closing slash: empty at the root, else such as `/svc`. */
export function basePath(config: Config): string {
  const path = URL.parse(config.server.baseUrl)?.pathname ?? '';
  return path.replace(/\/+$/, '');
}

/** The edition the UI shows a badge for; anything but the two known words is none. */
export function editionOf(config: Config): 'lite' | 'pro' | undefined {
  const { edition } = config.ui;
  return edition === 'lite' || edition === 'pro' ? edition : undefined;
}

/** Whether somebody has to make the first user: with single sign-on they come by themselves, without authentication nobody needs one. */
export const needsFirstUser = (config: Config): boolean => config.auth.provider === 'jwt' && !config.auth.devNoAuth;

/** Arguments of the external secrets backend; empty stands for none. */
export function secretsBackendKwargs(config: Config): string {
  return config.secrets.backendKwargs.trim() === '' ? '{}' : config.secrets.backendKwargs;
}
