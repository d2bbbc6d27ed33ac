import { readFileSync } from 'node:fs';
import { CliError, EXIT, messageOf, usageError } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { sessionUrl } from '@svc/server/db/database-path.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';
import { KINDS } from './report.ts';
import type { Kind } from './report.ts';

type Options = ConfigOptions & {
  from: string;
  tenant: string;
  apply?: true;
  overwrite?: true;
  only?: string;
  dags?: string;
  since?: string;
  fernetKeyFile?: string;
  json?: true;
};

export function addMigrateCommand(program: SvcCommand, context: CliContext): void {
  withConfigOptions(program.command('migrate'))
    .description(
      'Bring settings, users, pause states and run history over from an Airflow; shows what it would do first',
    )
    .requiredOption(
      '--from <airflow>',
      'address of its HTTP API (http…://), or its metadata database: postgresql://…, mysql://… or a SQLite file',
    )
    .option('--apply', 'do it; without this nothing is changed')
    .option('--tenant <name>', 'where to', 'default')
    .option('--only <kinds>', `some of ${KINDS.join(', ')}; separated by commas`)
    .option('--dags <glob>', 'only pause states and history of DAGs whose id matches')
    .option('--since <date>', 'only history from this date on')
    .option('--overwrite', 'change what is here and differs; otherwise it is left as it is, and named')
    .option(
      '--fernet-key-file <file>',
      "the Fernet keys of the Airflow's database, separated by commas (default: the variable AIRFLOW__CORE__FERNET_KEY)",
    )
    .option('--json', 'print JSON')
    .note(
      'Runs where the control plane is configured, and writes to its database. The source is only read. Of an HTTP API, the\nuser and password are taken from the variables AIRFLOW_USERNAME and AIRFLOW_PASSWORD, or a token from AIRFLOW_TOKEN.\nInterrupted, the same command goes on where it stopped. docs/migrating.md says what comes over, and what does not.',
    )
    .example('what would come over', 'svc migrate --from postgresql://airflow@db.example.com/airflow')
    .example(
      'the last year of some DAGs',
      "svc migrate --from airflow.db --only history --dags 'etl_*' --since 2026-01-01 --apply",
    )
    .action((options: Options) => migrate(context, options));
}

async function migrate(context: CliContext, options: Options): Promise<void> {
  const request = {
    from: options.from,
    tenant: options.tenant,
    kinds: kindsOf(options.only),
    isApplied: options.apply === true,
    overwrites: options.overwrite === true,
    dagGlob: options.dags,
    since: dateOf(options.since),
    fernetKeys: fernetKeys(context, options.fernetKeyFile),
    isJson: options.json === true,
  };
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  const { migrateSchema, withDatabase } = await import('../database.ts');
  const { runMigration } = await import('./run-migration.ts');
  await migrateSchema(sessionUrl(config));
  await withDatabase(sessionUrl(config), (db) => runMigration(context, { config, db, request }));
}

/** Returns the kinds in the order of the work, whatever the order in which they were named. */
function kindsOf(only: string | undefined): readonly Kind[] {
  if (only === undefined) return KINDS;
  const named = only.split(',').map((name) => name.trim());
  const unknown = named.filter((name) => !(KINDS as readonly string[]).includes(name));
  if (unknown.length > 0) throw usageError(`--only ${unknown.join(', ')}: choose from ${KINDS.join(', ')}`);
  return KINDS.filter((kind) => named.includes(kind));
}

function dateOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(date.getTime()))
    throw usageError(`--since ${text}: give a date such as 2026-01-31, or 2026-01-31T06:00:00Z`);
  return date.toISOString();
}

/** Reads keys from a file or the environment, because every user of the machine could read them on the command line. */
function fernetKeys({ env }: CliContext, file: string | undefined): string | undefined {
  if (file === undefined) return env['AIRFLOW__CORE__FERNET_KEY'];
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError(`the Fernet keys cannot be read from ${file}: ${messageOf(error)}`, { exitCode: EXIT.usage });
  }
}
