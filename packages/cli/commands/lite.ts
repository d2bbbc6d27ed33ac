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
    .argument('[workspace]', 'Airflow repository, or directory of your DAG projects')
    .option('--port <number>', 'port of the web UI and API on 127.0.0.1 (default: 8088)', parsePort)
    .option(...DATA_DIR)
    .option('-v, --verbose', 'print the whole log; without it only warnings and errors, the rest goes to svc.log')
    .note(
      'Secrets and the password of the first user are made at the first start and kept in the data directory.\nRemoving that directory removes the installation.',
    )
    .example('the projects of this directory', 'svc lite .')
    .example('an Airflow repository as it is', 'svc lite my-airflow-repository')
    .example('a second one beside the first', 'svc lite --port 8089 --data-dir ~/.svc/second')
    .action((workspace: string | undefined, options: Options) => run(context, workspace, options));

  withConfigOptions(lite.command('reset-password'))
    .description('Give the first user, or another one, a new password; ends that user’s sessions')
    .option(...DATA_DIR)
    .option('--username <email>', 'whose password (default: the first administrator)')
    .option('--password-stdin', 'read the new password from standard input instead of making one')
    .example('make one and print it', 'svc lite reset-password')
    .action((_: Options, command: SvcCommand) => resetPassword(context, command.optsWithGlobals()));

  withConfigOptions(lite.command('backup'))
    .description('Write everything lite keeps (database, logs of tasks, secrets) into one file')
    .argument('<file>', 'what to write, such as backup.tar.gz')
    .option(...DATA_DIR)
    .option('--force', 'overwrite a file of that name')
    .option('--json', 'print JSON')
    .note(
      'Works while lite runs and when it is stopped. The file holds the keys to what is in it and is readable to you only.',
    )
    .example('a copy of today', 'svc lite backup svc-$(date +%F).tar.gz')
    .action((file: string, _: Options, command: SvcCommand) => backUp(context, file, command.optsWithGlobals()));

  lite
    .command('restore')
    .description('Put back what `svc lite backup` has written')
    .argument('<file>', 'the backup')
    .option(...DATA_DIR)
    .option('--force', 'replace an installation; the old one is kept beside it')
    .option('--json', 'print JSON')
    .note('Lite must not be running. Everything in the file is checked before anything is changed.')
    .example('beside the one there is', 'svc lite restore backup.tar.gz --data-dir ~/.svc/second')
    .action((file: string, _: Options, command: SvcCommand) => restore(context, file, command.optsWithGlobals()));
}

async function run(context: CliContext, workspace: string | undefined, options: Options): Promise<void> {
  // Loaded on demand, like everything that loads the server.
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

type TransferOptions = Options & { force?: true; json?: true };

async function backUp(context: CliContext, file: string, options: TransferOptions): Promise<void> {
  const { backUpLite } = await import('../lite/backup/back-up.ts');
  await backUpLite(context, { ...options, file, dataDirectory: dataDirectory(context, options) });
}

async function restore(context: CliContext, file: string, options: TransferOptions): Promise<void> {
  const { restoreLite } = await import('../lite/backup/restore.ts');
  const { force, json, dataDir } = options;
  await restoreLite(context, {
    file,
    ...(force && { force }),
    ...(json && { json }),
    dataDirectory: dataDirectory(context, options),
    isDefaultDirectory: dataDir === undefined,
  });
}

const dataDirectory = (context: CliContext, { dataDir }: Options): string =>
  resolve(dataDir ?? defaultDataDirectory({ env: context.env, home: homedir(), isRoot: process.getuid?.() === 0 }));

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
