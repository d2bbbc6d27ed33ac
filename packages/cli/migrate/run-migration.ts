/** Runs one migration from its start to its report. */
import { matchesGlob } from 'node:path';
import type { Config } from '@svc/server/config/load.ts';
import type { Database } from '@svc/server/db/database.ts';
import { findTenantByName } from '@svc/server/db/identity/tenants.ts';
import { SourceError, openAirflowDatabase } from '@svc/server/db/imports/airflow/database-source.ts';
import type { AirflowSource } from '@svc/server/db/imports/airflow/source-types.ts';
import { openKeyring } from '@svc/server/open-keyring.ts';
import { createVault } from '@svc/server/vault/vault.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { hostActor } from '../identity/host.ts';
import { runStages } from '../progress.ts';
import type { Stage } from '../progress.ts';
import { listenForStop } from '../stop-signal.ts';
import { migrateDags } from './dags.ts';
import { createFernet } from './fernet.ts';
import { InterruptedError, migrateHistory } from './history.ts';
import type { Migration } from './migration.ts';
import { readPickles } from './read-pickles.ts';
import { createReport, printReport } from './report.ts';
import type { Kind } from './report.ts';
import { openAirflowApi } from './rest-source.ts';
import { migrateConnections, migratePools, migrateVariables } from './settings.ts';
import { migrateUsers } from './users.ts';

export type MigrateRequest = {
  from: string;
  tenant: string;
  kinds: readonly Kind[];
  isApplied: boolean;
  overwrites: boolean;
  dagGlob: string | undefined;
  since: string | undefined;
  fernetKeys: string | undefined;
  isJson: boolean;
};

const WORK: Record<Kind, (migration: Migration) => Promise<void>> = {
  pools: migratePools,
  variables: migrateVariables,
  connections: migrateConnections,
  dags: migrateDags,
  users: migrateUsers,
  history: migrateHistory,
};

export async function runMigration(
  context: CliContext,
  { config, db, request }: { config: Config; db: Database; request: MigrateRequest },
): Promise<void> {
  const fernet = createFernet(request.fernetKeys);
  const tenant = await findTenantByName(db.shared, request.tenant);
  if (!tenant)
    throw new CliError(`there is no tenant ${request.tenant}`, {
      exitCode: EXIT.notFound,
      hint: `create it with "svc tenants create ${request.tenant} --admin <email>"`,
    });
  const source = await openSource(context, request.from);
  const stop = listenForStop();
  try {
    const { dagGlob } = request;
    const migration: Migration = {
      source,
      db,
      tenant,
      vault: createVault({ keyring: openKeyring(config), log: { warn: (_, message) => warn(context, message) } }),
      fernet,
      actor: hostActor('migrate'),
      report: createReport(),
      isApplied: request.isApplied,
      overwrites: request.overwrites,
      wantsDag: (dagId) => dagGlob === undefined || matchesGlob(dagId, dagGlob),
      scope: JSON.stringify({ dags: dagGlob ?? null, since: request.since ?? null }),
      since: request.since,
      readPickles: (runs) => readPickles(context.env, runs),
      say: () => {},
      isStopped: stop.isRequested,
    };
    await workThrough(context, migration, request);
    printReport(
      context,
      { report: migration.report, source, tenant: tenant.name, kinds: request.kinds, isApplied: request.isApplied },
      request.isJson,
    );
  } catch (error) {
    if (error instanceof SourceError) throw new CliError(error.message, { cause: error });
    if (!(error instanceof InterruptedError)) throw error;
    throw new CliError('interrupted; what was done is kept', {
      exitCode: EXIT.interrupted,
      hint: 'run the same command again: it goes on from there',
    });
  } finally {
    stop.dispose();
    await source.close();
  }
}

async function workThrough(
  context: CliContext,
  migration: Migration,
  { kinds, isJson }: MigrateRequest,
): Promise<void> {
  const stages = kinds.map((kind): Stage => ({
    title: kind,
    async run(say) {
      if (migration.isStopped()) throw new InterruptedError();
      await WORK[kind]({ ...migration, say });
      const { create, change, left, skip } = migration.report.countsOf(kind);
      const parts = migration.isApplied ? ['created', 'changed'] : ['to create', 'to change'];
      return `${kind}: ${create} ${parts[0]}, ${change} ${parts[1]}, ${left} left, ${skip} skipped`;
    },
  }));
  if (!isJson) return runStages(context, { stages });
  for (const stage of stages) await stage.run(() => {});
}

async function openSource(context: CliContext, from: string): Promise<AirflowSource> {
  try {
    if (!/^https?:/i.test(from)) return await openAirflowDatabase(from);
    const { env } = context;
    return await openAirflowApi(from, {
      username: env['AIRFLOW_USERNAME'],
      password: env['AIRFLOW_PASSWORD'],
      token: env['AIRFLOW_TOKEN'],
    });
  } catch (error) {
    if (error instanceof SourceError) throw new CliError(error.message, { cause: error });
    throw error;
  }
}
