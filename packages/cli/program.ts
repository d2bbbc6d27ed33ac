/** The command tree, and the one place where failures become a message and an exit code. */
import { CommanderError } from 'commander';
import { takeConfigFlags } from '@svc/server/config/arguments.ts';
import { CliError, EXIT, messageOf } from './cli-error.ts';
import type { ExitCode } from './cli-error.ts';
import { createCommandAnnouncement } from './client/command-announcement.ts';
import { addAlertsCommands } from './commands/alerts.ts';
import { addCheckCommand } from './check/check.ts';
import { addFixCommand } from './check/fix.ts';
import { addBundlesCommands } from './bundles/bundles-commands.ts';
import { addDeploymentsCommands } from './bundles/deployments-commands.ts';
import { addAuthCommands } from './commands/auth.ts';
import { addBackfillCommands } from './commands/backfill.ts';
import { addCompileCommand } from './commands/compile.ts';
import { addConfigCommand } from './commands/config.ts';
import { addConnectionsCommands } from './commands/connections.ts';
import { addCostCommand } from './commands/cost.ts';
import { addDagsCommands } from './commands/dags.ts';
import { addDatabaseCommands } from './commands/database.ts';
import { addDeployCommand } from './commands/deploy.ts';
import { addImagesCommands } from './commands/images.ts';
import { addInformationCommands } from './commands/information.ts';
import { addInitCommand } from './commands/init.ts';
import { addLiteCommand } from './commands/lite.ts';
import { addPoolsCommands } from './commands/pools.ts';
import { addRunsCommands } from './commands/runs/runs.ts';
import { addSecretsCommands } from './commands/secrets.ts';
import { addServerCommand } from './commands/server.ts';
import { addSetupCommands } from './commands/setup.ts';
import { addUsersCommands } from './commands/users.ts';
import { addValidateCommand } from './commands/validate.ts';
import { addVariablesCommands } from './commands/variables.ts';
import { addWorkersCommands } from './commands/workers.ts';
import { addReplayCommand } from './local-runs/replay-command.ts';
import { addTestCommand } from './local-runs/test-command.ts';
import { addImportCommand } from './import/import-command.ts';
import { addPlanCommand } from './plan/plan-command.ts';
import { addServiceAccountsCommands } from './identity/service-accounts.ts';
import { addTenantsCommands } from './identity/tenants.ts';
import { addMigrateCommand } from './migrate/command.ts';
import type { CliContext } from './context.ts';
import { columnsOf, styled } from './output/terminal.ts';
import { printable } from './output/text.ts';
import { SvcCommand } from './svc-command.ts';
import { VERSION } from './version.ts';

/** Commands that load a configuration, and therefore accept every key as a flag. */
const TAKE_CONFIG_FLAGS = new Set([
  'server',
  'config',
  'lite',
  'db',
  'secrets',
  'tenants',
  'migrate',
  'users grant-admin',
]);

const DEFAULT_HELP_WIDTH = 100;

export function buildProgram(context: CliContext): SvcCommand {
  const program = new SvcCommand('svc')
    .description('Control plane for DAG workflows, with the Airflow 3.2 HTTP API')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'svc: ')),
      getOutHelpWidth: () => columnsOf(context.stdout) ?? DEFAULT_HELP_WIDTH,
      getErrHelpWidth: () => columnsOf(context.stderr) ?? DEFAULT_HELP_WIDTH,
    })
    .note(
      'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 not authenticated or not permitted,\n4 not found, 5 control plane unreachable.',
    )
    .example('run everything on this machine, with its own Postgres', 'svc lite')
    .example('log in to a control plane and list its connections', 'svc auth login && svc connections list');

  program.hook('preAction', (_program, command) => context.announcement?.begin(command));
  program.commandsGroup('Run:');
  addLiteCommand(program, context);
  addServerCommand(program, context);
  addSetupCommands(program, context);
  addConfigCommand(program, context);
  addDatabaseCommands(program, context);
  addSecretsCommands(program, context);
  addTenantsCommands(program, context);
  addMigrateCommand(program, context);
  program.commandsGroup('DAG projects:');
  addInitCommand(program, context);
  addValidateCommand(program, context);
  addCheckCommand(program, context);
  addFixCommand(program, context);
  addCompileCommand(program, context);
  addTestCommand(program, context);
  addPlanCommand(program, context);
  addDeployCommand(program, context);
  addImagesCommands(program, context);
  program.commandsGroup('Talk to a control plane:');
  addDagsCommands(program, context);
  addBundlesCommands(program, context);
  addDeploymentsCommands(program, context);
  addRunsCommands(program, context);
  addBackfillCommands(program, context);
  addReplayCommand(program, context);
  addAuthCommands(program, context);
  addUsersCommands(program, context);
  addServiceAccountsCommands(program, context);
  addWorkersCommands(program, context);
  addConnectionsCommands(program, context);
  addImportCommand(program, context);
  addVariablesCommands(program, context);
  addPoolsCommands(program, context);
  addAlertsCommands(program, context);
  addCostCommand(program, context);
  program.commandsGroup('About svc:');
  addInformationCommands(program, context);
  return program;
}

export async function runCli(
  input: Omit<CliContext, 'configFlags' | 'announcement'> & { argv: readonly string[] },
): Promise<ExitCode> {
  const { argv, ...streams } = input;
  const { flags, rest } = takesConfigFlags(argv) ? takeConfigFlags(argv) : { flags: {}, rest: argv };
  const context: CliContext = { ...streams, configFlags: flags, announcement: createCommandAnnouncement() };
  try {
    await buildProgram(context).parseAsync([...rest], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return report(context, error);
  }
}

/** The command precedes its flags. A value such as `--description server` is not a command. */
function takesConfigFlags(argv: readonly string[]): boolean {
  const [command = '', inner = ''] = argv.filter((argument) => !argument.startsWith('-'));
  return TAKE_CONFIG_FLAGS.has(command) || TAKE_CONFIG_FLAGS.has(`${command} ${inner}`);
}

function report(context: CliContext, error: unknown): ExitCode {
  // Commander has printed its own message. A request for help or the version is not a failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { stderr } = context;
  const label = styled(stderr, 'red', 'svc:');
  if (error instanceof CliError) {
    stderr.write(`${label} ${printable(error.message)}\n`);
    if (error.hint !== undefined) stderr.write(`${printable(error.hint)}\n`);
    return error.exitCode;
  }
  const stack = error instanceof Error ? error.stack : undefined;
  stderr.write(`${label} unexpected error: ${printable(stack ?? messageOf(error))}\n`);
  return EXIT.failed;
}
