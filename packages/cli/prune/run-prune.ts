/** Removes old runs once, from its start to its report. */
import { randomUUID } from 'node:crypto';
import type { Config } from '@svc/server/config/load.ts';
import type { Database } from '@svc/server/db/database.ts';
import { recordAudit } from '@svc/server/db/identity/audit-log.ts';
import { listTenantIds } from '@svc/server/db/identity/tenants.ts';
import { findInstallation } from '@svc/server/db/processes/installation.ts';
import { releasePruneLease, takePruneLease } from '@svc/server/db/prune/prune-lease.ts';
import { createLogStore } from '@svc/server/logs/create-log-store.ts';
import { unsharedReason } from '@svc/server/logs/shared-directory.ts';
import type { LogStore } from '@svc/server/logs/store.ts';
import { PruneLeaseLostError, prune } from '@svc/server/retention/prune.ts';
import type { PruneReport } from '@svc/server/retention/prune.ts';
import { createLogRemoval } from '@svc/server/retention/remove-logs.ts';
import { CliError, EXIT } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { hostActor } from '../identity/host.ts';
import { runStages } from '../progress.ts';
import { listenForStop } from '../stop-signal.ts';
import { printPruneReport, totalOf } from './report.ts';

export type PruneRequest = {
  olderThanMs: number;
  auditOlderThanMs: number | null;
  isApplied: boolean;
  isFast: boolean;
  isJson: boolean;
};

export async function runPrune(
  context: CliContext,
  { config, db, request }: { config: Config; db: Database; request: PruneRequest },
): Promise<void> {
  const leaseBy = request.isApplied ? randomUUID() : null;
  const logs = request.isApplied ? await openLogs(context, config, db) : null;
  const stop = listenForStop();
  const stopping = new AbortController();
  void stop.requested.then(() => stopping.abort());
  let report: PruneReport | undefined;
  try {
    if (leaseBy !== null) await takeLease(db, leaseBy);
    const stage = {
      title: request.isApplied ? 'removing' : 'looking',
      async run(say: (text: string) => void) {
        report = await prune({
          db,
          olderThanMs: request.olderThanMs,
          auditOlderThanMs: request.auditOlderThanMs,
          leaseBy,
          logs: logs && createLogRemoval({ db, logs }),
          rest: (tookMs) => (request.isFast ? 0 : tookMs),
          signal: stopping.signal,
          onProgress: ({ tenant, removed }) =>
            say(`tenant ${tenant}: ${removed.runs} runs, ${removed.taskInstances} task instances`),
        });
        return `${request.isApplied ? 'removed' : 'to remove'}: ${totalOf(report.tenants, 'runs')} runs`;
      },
    };
    if (request.isJson) await stage.run(() => {});
    else await runStages(context, { stages: [stage] });
  } catch (error) {
    if (!(error instanceof PruneLeaseLostError)) throw error;
    throw new CliError('this command stood still for so long that a scheduler has taken over', { cause: error });
  } finally {
    stop.dispose();
    if (leaseBy !== null) await releasePruneLease(db.shared, leaseBy, { isFinished: false });
    await logs?.close();
  }
  if (report === undefined) throw new Error('unreachable: the stage has run');
  if (request.isApplied) await record(db, report);
  printPruneReport(context, report, request);
  if (!report.isFinished)
    throw new CliError('interrupted; what was done is kept', {
      exitCode: EXIT.interrupted,
      hint: 'run the same command again: it goes on from there',
    });
}

async function takeLease(db: Database, by: string): Promise<void> {
  const lease = await takePruneLease(db.shared, { by, holder: `${hostActor('db prune').name} with "svc db prune"` });
  if (lease.kind !== 'busy') return;
  throw new CliError(`old runs are being removed right now, by ${lease.holder}`, {
    hint: 'one does it at a time: let it finish, or stop it and try again a minute later',
  });
}

/** Returns null if the logs are not reachable here. A scheduler with access to them then removes the noted logs. */
async function openLogs(context: CliContext, config: Config, db: Database): Promise<LogStore | null> {
  if (config.logs.backend === 'disk') {
    const installation = await findInstallation(db);
    const unshared = await unsharedReason(config.logs.dir, installation);
    if (unshared !== undefined || installation.logsMarkedAt === null) {
      warn(
        context,
        `logs.dir ${config.logs.dir} has no logs of this installation: a scheduler removes those of the runs`,
      );
      return null;
    }
  }
  // Its log messages are for an operator who watches it for a long time. Failures are returned here.
  const logger = { info() {}, warn() {}, error() {} };
  return createLogStore({ config, writing: db, reading: db, processId: randomUUID(), logger });
}

/** Writes an audit entry in each tenant that lost rows. */
async function record(db: Database, { before, auditBefore, tenants }: PruneReport): Promise<void> {
  const ids = new Map((await listTenantIds(db.shared)).map(({ id, name }) => [name, id]));
  for (const { tenant, removed } of tenants) {
    const id = ids.get(tenant);
    if (id === undefined || Object.values(removed).every((count) => count === 0)) continue;
    await recordAudit(db.tenant(id), hostActor('db prune'), {
      event: 'prune_database',
      objectKind: 'tenant',
      objectId: tenant,
      detail: { before, audit_before: auditBefore, ...removed },
    });
  }
}
