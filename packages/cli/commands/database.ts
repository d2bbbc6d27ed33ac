import type { CliContext } from '../context.ts';
import { printJson, warn } from '../context.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';

export function addDatabaseCommands(program: SvcCommand, context: CliContext): void {
  const db = program.command('db').description('Work on the database of the control plane');

  withConfigOptions(db.command('migrate'))
    .description('Bring the schema up to date; the control plane does the same when it starts')
    .option('--json', 'print JSON')
    .example('before a rollout', 'SVC_DATABASE_URL=… svc db migrate')
    .action((options: ConfigOptions & { json?: true }) => migrate(context, options));
}

async function migrate(context: CliContext, options: ConfigOptions & { json?: true }): Promise<void> {
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  const { migrateSchema } = await import('../database.ts');
  const { applied } = await migrateSchema(config.database.url);
  if (options.json) {
    printJson(context, { applied });
    return;
  }
  for (const name of applied) context.stdout.write(`applied ${name}\n`);
  context.stdout.write('The schema is up to date.\n');
}
