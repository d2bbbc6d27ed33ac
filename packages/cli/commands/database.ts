import { usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { printJson, warn } from '../context.ts';
import { addPruneCommand } from '../prune/prune-command.ts';
import { sessionUrl } from '@svc/server/db/database-path.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';

export function addDatabaseCommands(program: SvcCommand, context: CliContext): void {
  const db = program.command('db').description('Work on the database of the control plane');

  withConfigOptions(db.command('migrate'))
    .description('Bring the schema up to date; the control plane does the same when it starts, unless its role is api')
    .option('--json', 'print JSON')
    .example('before a rollout', 'SVC_DATABASE_URL=… svc db migrate')
    .action((options: ConfigOptions & { json?: true }) => migrate(context, options));

  withConfigOptions(db.command('grant'))
    .description('Let a database user do what a role of the control plane needs, and nothing else')
    .argument('<user>', 'user of the database; "create role … login" makes one')
    .requiredOption('--role <role>', 'api or scheduler: the server.role of the processes that log in as this user')
    .option('--dry-run', 'print the SQL and change nothing')
    .note(
      'To be run by the owner of the tables, after "svc db migrate". Repeating it changes nothing; later migrations grant what they add by themselves. docs/operations.md has what each role may do.',
    )
    .example('for the API', 'SVC_DATABASE_URL=<of the owner> svc db grant --role api svc_api')
    .example('to look at it, or give it to psql', 'svc db grant --role scheduler svc_scheduler --dry-run')
    .action((user: string, options: GrantOptions) => grantRole(context, user, options));

  addPruneCommand(db, context);
}

type GrantOptions = ConfigOptions & { role: string; dryRun?: true };

const ROLES = ['api', 'scheduler'] as const;

async function grantRole(context: CliContext, user: string, options: GrantOptions): Promise<void> {
  const role = ROLES.find((name) => name === options.role);
  if (!role) throw usageError(`--role ${options.role}: a database user is for one of the roles ${ROLES.join(' and ')}`);
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  const { grantDatabaseRole } = await import('../database.ts');
  const statements = await grantDatabaseRole(sessionUrl(config), { role, user, isDryRun: options.dryRun === true });
  if (options.dryRun) context.stdout.write(`begin;\n${statements.map((each) => `${each};\n`).join('')}commit;\n`);
  else context.stdout.write(`${user} may now do what the role ${role} needs.\n`);
}

async function migrate(context: CliContext, options: ConfigOptions & { json?: true }): Promise<void> {
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  const { migrateSchema } = await import('../database.ts');
  const { applied } = await migrateSchema(sessionUrl(config));
  if (options.json) {
    printJson(context, { applied });
    return;
  }
  for (const name of applied) context.stdout.write(`applied ${name}\n`);
  context.stdout.write('The schema is up to date.\n');
}
