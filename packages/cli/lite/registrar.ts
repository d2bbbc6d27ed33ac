/** Registers DAGs with the control plane in this very process: no login, no HTTP, the same rules. */
import type { Registrar } from '@svc/compiler/sync-workspace.ts';
import { registerVersion } from '@svc/server/dags/register-version.ts';
import { listDags, markStale } from '@svc/server/db/dags.ts';
import type { Database, TenantDb } from '@svc/server/db/database.ts';
import { deleteImportError, putImportError } from '@svc/server/db/import-errors.ts';
import { DEFAULT_TENANT, findTenantByName } from '@svc/server/db/tenants.ts';

/** Who the audit log names for what lite does by itself. */
const ACTOR = { name: 'svc lite', clientIp: 'local', requestId: 'workspace' };
const PAGE = 1_000;

export async function createLocalRegistrar(db: Database): Promise<Registrar> {
  const tenant = await findTenantByName(db.shared, DEFAULT_TENANT);
  if (!tenant) throw new Error('the control plane is not ready yet');
  const scope = db.tenant(tenant.id);
  return {
    async register(dagId, { spec, bundleName, fileloc, parseSeconds, warnings }) {
      const artifact = { spec, bundle_name: bundleName, fileloc, parse_seconds: parseSeconds, warnings: [...warnings] };
      const outcome = await registerVersion(scope, { dagId, artifact, actor: ACTOR });
      if (outcome.kind === 'refused') throw new Error(outcome.problems.join('; '));
      return { versionNumber: outcome.version.version_number, isNew: outcome.kind === 'created' };
    },
    async reportError(error) {
      await putImportError(scope, error);
    },
    clearError: (file) => deleteImportError(scope, file),
    active: () => activeDags(scope),
    markStale: (dagIds) => markStale(scope, dagIds),
  };
}

async function activeDags(db: TenantDb): Promise<{ dagId: string; fileloc: string }[]> {
  const found: { dagId: string; fileloc: string }[] = [];
  for (let total = 1; found.length < total;) {
    const page = await listDags(db, {
      limit: PAGE,
      offset: found.length,
      order: [{ column: 'dag_id', direction: 'asc' }],
      excludeStale: true,
    });
    if (page.dags.length === 0) break;
    total = page.total;
    found.push(...page.dags.map((dag) => ({ dagId: dag.dag_id, fileloc: dag.fileloc })));
  }
  return found;
}
