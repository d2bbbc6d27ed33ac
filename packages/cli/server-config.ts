/** Loads the control plane's configuration, for commands that run on this machine instead of calling the API. */
import { ConfigError, loadConfig } from '@svc/server/config/load.ts';
import type { LoadedConfig } from '@svc/server/config/load.ts';
import type { Flags } from '@svc/server/config/read-flags.ts';
import { usageError } from './cli-error.ts';
import { configEnvironment } from './context.ts';
import type { CliContext } from './context.ts';
import type { SvcCommand } from './svc-command.ts';

export type ConfigOptions = { config?: string };

export const withConfigOptions = (command: SvcCommand): SvcCommand =>
  command
    .option('--config <file>', 'YAML configuration file (default: the variable SVC_CONFIG)')
    .note(
      'Every configuration key is also a flag, for example --server.http-addr 127.0.0.1:8080 or --scheduler.enabled false.\nStrongest first: flags, SVC_ variables, the file, built-in defaults. "svc config" shows what is in force.',
    );

export function loadServerConfig(
  context: Pick<CliContext, 'env' | 'configFlags'>,
  options: ConfigOptions,
  moreFlags: Flags = {},
): LoadedConfig {
  try {
    return loadConfig({
      file: options.config,
      env: configEnvironment(context.env),
      flags: { ...context.configFlags, ...moreFlags },
    });
  } catch (error) {
    if (error instanceof ConfigError) throw usageError(error.message);
    throw error;
  }
}
