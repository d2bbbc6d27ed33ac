/**
 * Brings the schema up to date. Several processes may boot at the same time: Kysely's migrator takes an advisory lock
 * in the transaction that migrates, so one does the work and the others find it done.
 */
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import * as identityAndSecrets from './migrations/0001-identity-and-secrets.ts';
import * as dagsAndVersions from './migrations/0002-dags-and-versions.ts';
import * as runsAndTaskInstances from './migrations/0003-runs-and-task-instances.ts';
import * as assetsAndBackfills from './migrations/0004-assets-and-backfills.ts';
import * as ordersOfRuns from './migrations/0005-orders-of-runs.ts';
import * as listsOfTaskInstances from './migrations/0006-lists-of-task-instances.ts';
import * as attemptsHandedOver from './migrations/0007-attempts-handed-over.ts';
import * as pagesOfTheWebUi from './migrations/0008-pages-of-the-web-ui.ts';
import * as questionsOfTasks from './migrations/0009-questions-of-tasks.ts';
import * as numbersOfRuns from './migrations/0010-numbers-of-runs.ts';
import * as allowedRunTypes from './migrations/0011-allowed-run-types.ts';
import * as versionsOfDeletedDags from './migrations/0012-versions-of-deleted-dags.ts';
import * as idsInOrderOfTime from './migrations/0013-ids-in-order-of-time.ts';
import * as runsByType from './migrations/0014-runs-by-type.ts';
import * as ordersOfTaskInstances from './migrations/0015-orders-of-task-instances.ts';
import * as failedRunsOfADag from './migrations/0016-failed-runs-of-a-dag.ts';
import * as installedProviders from './migrations/0017-installed-providers.ts';
import * as authorDataAsWritten from './migrations/0018-author-data-as-written.ts';
import * as detailsOfFailures from './migrations/0019-details-of-failures.ts';
import * as classesOfOperators from './migrations/0020-classes-of-operators.ts';
import * as exchangedTokens from './migrations/0021-exchanged-tokens.ts';
import * as serviceAccounts from './migrations/0022-service-accounts-and-disabled-tenants.ts';
import * as splitRoles from './migrations/0023-split-roles.ts';
import * as versionsOfValues from './migrations/0024-versions-of-values.ts';
import * as singleSignOn from './migrations/0025-single-sign-on.ts';
import * as logsInObjectStores from './migrations/0026-logs-in-object-stores.ts';
import * as importedHistory from './migrations/0027-imported-history.ts';
import * as ownTimetables from './migrations/0028-own-timetables-and-partitions.ts';
import * as triggers from './migrations/0029-triggers.ts';
import * as awaitedRuns from './migrations/0030-awaited-runs.ts';
import * as workers from './migrations/0031-workers.ts';
import * as pruning from './migrations/0032-pruning.ts';
import * as executorsOfTasks from './migrations/0033-executors-of-tasks.ts';
import * as statesOfVaults from './migrations/0034-states-of-vaults.ts';
import * as stretchesOfTaskInstances from './migrations/0035-stretches-of-task-instances.ts';
import * as severalPartitionsOfAnEvent from './migrations/0036-several-partitions-of-an-event.ts';
import * as stepsForeseen from './migrations/0037-steps-foreseen.ts';
import * as usersOfProcesses from './migrations/0038-users-of-processes.ts';
import * as storedValues from './migrations/0039-stored-values.ts';
import * as valuesThatFilesRead from './migrations/0040-values-that-files-read.ts';
import * as workMetrics from './migrations/0041-work-metrics.ts';
import * as stateStores from './migrations/0042-state-stores.ts';
import * as bundles from './migrations/0043-bundles.ts';
import * as infrastructureRetries from './migrations/0044-infrastructure-retries.ts';
import * as webhooksOfBundles from './migrations/0045-webhooks-of-bundles.ts';
import * as alerts from './migrations/0046-alerts.ts';
import * as rollbacksOfDags from './migrations/0047-rollbacks-of-dags.ts';
import * as namesOfDeadlines from './migrations/0048-names-of-deadlines.ts';
import * as usageOfTries from './migrations/0049-usage-of-tries.ts';
import * as alertsOfTime from './migrations/0050-alerts-of-time.ts';
import * as replacedValues from './migrations/0051-replaced-values.ts';
import * as codeArchives from './migrations/0052-code-archives.ts';
import * as awaitingInput from './migrations/0053-awaiting-input.ts';
import * as killedTriggers from './migrations/0054-killed-triggers.ts';
import * as groupRetries from './migrations/0055-group-retries.ts';
import { grantAgain } from './grants/grant.ts';
import type { Database } from './database.ts';
import type { AllTables } from './schema.ts';
import { openPool } from './connection-pool.ts';

/** The names define the order and never change: a landed migration is never edited, the next one is added. */
const MIGRATIONS = {
  '0001-identity-and-secrets': identityAndSecrets,
  '0002-dags-and-versions': dagsAndVersions,
  '0003-runs-and-task-instances': runsAndTaskInstances,
  '0004-assets-and-backfills': assetsAndBackfills,
  '0005-orders-of-runs': ordersOfRuns,
  '0006-lists-of-task-instances': listsOfTaskInstances,
  '0007-attempts-handed-over': attemptsHandedOver,
  '0008-pages-of-the-web-ui': pagesOfTheWebUi,
  '0009-questions-of-tasks': questionsOfTasks,
  '0010-numbers-of-runs': numbersOfRuns,
  '0011-allowed-run-types': allowedRunTypes,
  '0012-versions-of-deleted-dags': versionsOfDeletedDags,
  '0013-ids-in-order-of-time': idsInOrderOfTime,
  '0014-runs-by-type': runsByType,
  '0015-orders-of-task-instances': ordersOfTaskInstances,
  '0016-failed-runs-of-a-dag': failedRunsOfADag,
  '0017-installed-providers': installedProviders,
  '0018-author-data-as-written': authorDataAsWritten,
  '0019-details-of-failures': detailsOfFailures,
  '0020-classes-of-operators': classesOfOperators,
  '0021-exchanged-tokens': exchangedTokens,
  '0022-service-accounts-and-disabled-tenants': serviceAccounts,
  '0023-split-roles': splitRoles,
  '0024-versions-of-values': versionsOfValues,
  '0025-single-sign-on': singleSignOn,
  '0026-logs-in-object-stores': logsInObjectStores,
  '0027-imported-history': importedHistory,
  '0028-own-timetables-and-partitions': ownTimetables,
  '0029-triggers': triggers,
  '0030-awaited-runs': awaitedRuns,
  '0031-workers': workers,
  '0032-pruning': pruning,
  '0033-executors-of-tasks': executorsOfTasks,
  '0034-states-of-vaults': statesOfVaults,
  '0035-stretches-of-task-instances': stretchesOfTaskInstances,
  '0036-several-partitions-of-an-event': severalPartitionsOfAnEvent,
  '0037-steps-foreseen': stepsForeseen,
  '0038-users-of-processes': usersOfProcesses,
  '0039-stored-values': storedValues,
  '0040-values-that-files-read': valuesThatFilesRead,
  '0041-work-metrics': workMetrics,
  '0042-state-stores': stateStores,
  '0043-bundles': bundles,
  '0044-infrastructure-retries': infrastructureRetries,
  '0045-webhooks-of-bundles': webhooksOfBundles,
  '0046-alerts': alerts,
  '0047-rollbacks-of-dags': rollbacksOfDags,
  '0048-names-of-deadlines': namesOfDeadlines,
  '0049-usage-of-tries': usageOfTries,
  '0050-alerts-of-time': alertsOfTime,
  '0051-replaced-values': replacedValues,
  '0052-code-archives': codeArchives,
  '0053-awaiting-input': awaitingInput,
  '0054-killed-triggers': killedTriggers,
  '0055-group-retries': groupRetries,
};

export class SchemaTooNewError extends Error {}
/** A message for the operator: this database user must not migrate. */
export class MigrationRefusedError extends Error {}

const tooNew = (names: string): SchemaTooNewError =>
  new SchemaTooNewError(
    `the database was migrated by a newer version of svc (${names}): run that version, or restore a backup`,
  );

/**
 * Returns the migrations that the schema lacks for this version; empty when it is up to date. For a process that does
 * not migrate, and waits until another one has. Refuses the schema of a newer version.
 */
export async function missingMigrations(db: Database): Promise<string[]> {
  const names = await appliedMigrations(db.shared);
  const unknown = [...names].filter((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown.length > 0) throw tooNew(unknown.join(', '));
  return Object.keys(MIGRATIONS).filter((name) => !names.has(name));
}

async function appliedMigrations(db: Kysely<AllTables>): Promise<Set<string>> {
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch((error) => {
    if ((error as { code?: unknown }).code === '42P01') return { rows: [] }; // an empty database
    throw error;
  });
  return new Set(applied.rows.map(({ name }) => name));
}

/**
 * True when the schema is the one of this version. The migrator would read the columns of all tables twice to find
 * that out, which costs 30 ms of processor time at each start.
 */
async function isUpToDate(db: Kysely<AllTables>): Promise<boolean> {
  // The migrator explains any error better.
  const names = await appliedMigrations(db).catch(() => new Set<string>());
  const expected = Object.keys(MIGRATIONS);
  return names.size === expected.length && expected.every((name) => names.has(name));
}

export async function migrate(url: string): Promise<{ applied: string[] }> {
  // It uses a separate pool without a statement timeout, because waiting for another process's migration is not a
  // fault. The pool still detects a database that stops answering.
  const pool = openPool({
    url,
    maxOpen: 2,
    maxIdle: 0,
    statementTimeoutMs: 0,
    idleInTransactionTimeoutMs: 0,
    applicationName: 'svc migrate',
  });
  const db = new Kysely<AllTables>({ dialect: new PostgresDialect({ pool }) });
  try {
    if (await isUpToDate(db)) return { applied: [] };
    const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
    const { error, results } = await migrator.migrateToLatest();
    if (error instanceof Error && error.message.startsWith('corrupted migrations')) {
      throw tooNew(error.message);
    }
    if ((error as { code?: unknown } | undefined)?.code === '42501') {
      throw new MigrationRefusedError(
        'the schema is older than this version of svc, and this identity of the database may not change it: run "svc db migrate" with the database.url of the owner of the tables',
        { cause: error },
      );
    }
    if (error) throw error;
    const applied = (results ?? []).map((result) => result.migrationName);
    // New tables start without privileges. In a separate transaction: if it fails, restricted users are refused, but
    // nothing else is lost.
    if (applied.length > 0) await grantAgain(db);
    return { applied };
  } finally {
    await db.destroy();
    await pool.end();
  }
}
