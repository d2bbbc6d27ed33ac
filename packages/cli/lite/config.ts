/** The user's configuration, with lite's own values as defaults. */
import type { Config, ConfigKey, EffectiveValue } from '@svc/server/config/load.ts';
import { keyOfFlag } from '@svc/server/config/read-flags.ts';
import { usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { loadServerConfig } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import { LITE_HOST } from './defaults.ts';
import type { LiteDefaults } from './defaults.ts';

export type LiteConfig = {
  /** Returns the current value without lite's defaults, and where the user set it. */
  chosen(key: ConfigKey): EffectiveValue | undefined;
  /** Warnings about the user's settings. */
  readonly warnings: readonly string[];
  /** Returns the user's values, with `defaults` for missing ones and built-in defaults below both. */
  withDefaults(defaults: LiteDefaults): Config;
};

export function loadLiteConfig(
  context: Pick<CliContext, 'env' | 'configFlags'>,
  options: ConfigOptions & { port?: number },
): LiteConfig {
  const portFlag = portAsFlag(context, options.port);
  const user = loadServerConfig(context, options, portFlag);
  const chosen = new Map(
    user.entries.filter(({ source }) => source !== 'default').map((entry) => [entry.key, entry] as const),
  );
  return {
    chosen: (key) => chosen.get(key),
    warnings: user.warnings,
    // The configuration is loaded again with lite's values as flags, but only for keys that the user has not set, so
    // they act as the weakest layer. Warnings of this load (secrets among flags) are not caused by the user.
    withDefaults(defaults) {
      const missing = Object.entries(defaults).filter(([key]) => !chosen.has(key as ConfigKey));
      return loadServerConfig(context, options, { ...portFlag, ...Object.fromEntries(missing) }).config;
    },
  };
}

/** `--port` is short for `--server.http-addr`, so it has the same precedence. */
function portAsFlag(context: Pick<CliContext, 'configFlags'>, port: number | undefined): Record<string, string> {
  if (port === undefined) return {};
  if (Object.keys(context.configFlags).some((flag) => keyOfFlag(flag) === 'server.http_addr')) {
    throw usageError('--port and --server.http-addr both name the listener: give one of them');
  }
  return { 'server.http_addr': `${LITE_HOST}:${port}` };
}
