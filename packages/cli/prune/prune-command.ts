/** `svc db prune`: does the work of scheduler.retention once, by hand. It first shows what it would remove. */
import { formatDuration, parseDuration } from '@svc/server/config/duration.ts';
import { MIN_RETENTION_MS } from '@svc/server/config/keys-server.ts';
import { usageError } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { sessionUrl } from '@svc/server/db/database-path.ts';
import { loadServerConfig, withConfigOptions } from '../server-config.ts';
import type { ConfigOptions } from '../server-config.ts';
import type { SvcCommand } from '../svc-command.ts';

type Options = ConfigOptions & {
  olderThan: string;
  auditOlderThan?: string;
  apply?: true;
  fast?: true;
  json?: true;
};

export function addPruneCommand(db: SvcCommand, context: CliContext): void {
  withConfigOptions(db.command('prune'))
    .description('Remove finished runs of long ago with everything that is theirs; shows what would go first')
    .requiredOption('--older-than <duration>', 'runs that ended longer ago than this, such as 90d')
    .option('--apply', 'do it; without this nothing is changed')
    .option('--audit-older-than <duration>', 'entries of the audit log older than this, too; otherwise it stays whole')
    .option('--fast', 'without rests between the batches; otherwise it works half of the time')
    .option('--json', 'print JSON')
    .note(
      'Runs where the control plane is configured, while it runs or not, and works on its database and its task logs. Interrupted,\nthe same command goes on with what is left. Runs that are queued or running stay, and those that the next run of their DAG\nlooks at. docs/operations.md says what goes, what stays, and how to let schedulers do it (scheduler.retention).',
    )
    .example('what would go', 'svc db prune --older-than 90d')
    .example('and the audit log after two years', 'svc db prune --older-than 90d --audit-older-than 730d --apply')
    .action((options: Options) => pruneDatabase(context, options));
}

async function pruneDatabase(context: CliContext, options: Options): Promise<void> {
  const olderThanMs = ageOf('--older-than', options.olderThan);
  const auditOlderThanMs =
    options.auditOlderThan === undefined ? null : ageOf('--audit-older-than', options.auditOlderThan);
  if (auditOlderThanMs !== null && auditOlderThanMs < olderThanMs)
    throw usageError(
      '--audit-older-than must not be shorter than --older-than: the audit log is what is left to tell who did what to a run',
    );
  const { config, warnings } = loadServerConfig(context, options);
  for (const warning of warnings) warn(context, warning);
  const { migrateSchema, withDatabase } = await import('../database.ts');
  const { runPrune } = await import('./run-prune.ts');
  await migrateSchema(sessionUrl(config));
  await withDatabase(sessionUrl(config), (database) =>
    runPrune(context, {
      config,
      db: database,
      request: {
        olderThanMs,
        auditOlderThanMs,
        isApplied: options.apply === true,
        isFast: options.fast === true,
        isJson: options.json === true,
      },
    }),
  );
}

function ageOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw usageError(`${option} ${text}: give a duration such as 90d or 12h`);
  if (ms < MIN_RETENTION_MS)
    throw usageError(
      `${option} ${text}: at least ${formatDuration(MIN_RETENTION_MS)}, so that nothing goes that is just over`,
    );
  return ms;
}
