/** Registers compiled DAGs directly in the database, for a control plane in this process. */
import type { Registrar } from '@svc/compiler/sync-workspace.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import type { Actor } from '@svc/server/db/identity/audit-log.ts';
import { listDags, markStale } from '@svc/server/db/dags/dags.ts';
import type { TenantDb } from '@svc/server/db/database.ts';
import { deleteImportError, putImportError } from '@svc/server/db/dags/import-errors.ts';

const PAGE = 1_000;

export function createDatabaseRegistrar({
  db,
  actor,
  executors,
}: {
  db: TenantDb;
  actor: Actor;
  /** The executors that `executor=` may name. If absent, it may name any. */
  executors?: readonly string[] | undefined;
}): Registrar {
  return {
    async register(dagId, artifact) {
      const { bundleVersion, bundleUrl, image, providers, reads } = artifact;
      const outcome = await registerVersion(db, {
        dagId,
        actor,
        executors,
        isTaskEnvironment: true,
        artifact: {
          spec: artifact.spec,
          fileloc: artifact.fileloc,
          bundle_name: artifact.bundleName,
          parse_seconds: artifact.parseSeconds,
          warnings: [...artifact.warnings],
          differences: [...artifact.differences],
          ...(bundleVersion !== undefined && { bundle_version: bundleVersion }),
          ...(bundleUrl !== undefined && { bundle_url: bundleUrl }),
          ...(image !== undefined && { image }),
          ...(providers && { providers: [...providers] }),
          ...(reads && { values_read: [...reads] }),
        },
      });
      if (outcome.kind === 'refused') throw new Error(outcome.problems.join('; '));
      return { versionNumber: outcome.version.version_number, isNew: outcome.kind === 'created' };
    },
    reportError: async (error) => void (await putImportError(db, error)),
    clearError: (file) => deleteImportError(db, file),
    async active() {
      const found: { dagId: string; fileloc: string }[] = [];
      for (;;) {
        const order = [{ column: 'dag_id', direction: 'asc' }] as const;
        const { dags } = await listDags(db, { limit: PAGE, offset: found.length, order, excludeStale: true });
        found.push(...dags.map(({ dag_id: dagId, fileloc }) => ({ dagId, fileloc })));
        if (dags.length < PAGE) return found;
      }
    },
    markStale: (dagIds) => markStale(db, dagIds),
  };
}
