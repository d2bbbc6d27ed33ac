import { homedir } from 'node:os';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { defaultDataDirectory } from '../lite/data-directory.ts';
import { withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';

type Options = ConfigOptions & { dataDir?: string; port?: number; verbose?: true };

const DATA_DIR = [
  '--data-dir <path>',
  'where everything is kept (default: $SVC_HOME/lite, ~/.svc/lite, for root /var/lib/svc/lite)',
] as const;

export function addLiteCommand(program: SvcCommand, context: CliContext): void {
  const lite = withConfigOptions(program.command('lite'))
    .description('Run everything on this machine in one process, with a Postgres of its own')
    .argument('[workspace]', 'directory of your DAG projects')
    .option('--port <number>', 'port of the web UI and API on 127.0.0.1 (default: 8088)', parsePort)
    .option(...DATA_DIR)
    .option('-v, --verbose', 'print the whole log; without it only warnings and errors, the rest goes to svc.log')
    .note(
      'Secrets and the password of the first user are made at the first start and kept in the data directory.\nRemoving that directory removes the installation.',
    )
    .example('the projects of this directory', 'svc lite .')
    .example('a second one beside the first', 'svc lite --port 8089 --data-dir ~/.svc/second')
    .action((workspace: string | undefined, options: Options) => run(context, workspace, options));

  withConfigOptions(lite.command('reset-password'))
    .description('Give the first user, or another one, a new password; ends that user’s sessions')
    .option(...DATA_DIR)
    .option('--username <email>', 'whose password (default: the first administrator)')
    .option('--password-stdin', 'read the new password from standard input instead of making one')
    .example('make one and print it', 'svc lite reset-password')
    .action((_: Options, command: SvcCommand) => resetPassword(context, command.optsWithGlobals()));
}

async function run(context: CliContext, workspace: string | undefined, options: Options): Promise<void> {
  // Loaded on demand, as everything that brings the server with it.
  const { runLite } = await import('../lite/run-lite.ts');
  const path = workspace === undefined ? undefined : resolve(workspace);
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw usageError(`there is no directory ${path}`, 'make it first, or name the directory of your DAG projects');
  }
  await runLite(context, {
    ...options,
    dataDirectory: dataDirectory(context, options),
    isDefaultDirectory: options.dataDir === undefined,
    workspace: path,
    verbose: options.verbose === true,
  });
}

async function resetPassword(
  context: CliContext,
  options: Options & { username?: string; passwordStdin?: true },
): Promise<void> {
  const { resetLitePassword } = await import('../lite/reset-password.ts');
  await resetLitePassword(context, { ...options, dataDirectory: dataDirectory(context, options) });
}

const dataDirectory = (context: CliContext, { dataDir }: Options): string =>
  resolve(dataDir ?? defaultDataDirectory({ env: context.env, home: homedir(), isRoot: process.getuid?.() === 0 }));

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
