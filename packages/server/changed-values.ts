/**
 * Warns of DAGs that were compiled with an older value of a variable or connection than the one there is now. Their files are
 * on another machine, which `svc deploy` has compiled them on. Compiling a DAG again removes the warning.
 * A bundle is compiled again without help.
 */
import { sep } from 'node:path';
import { askForSyncOf } from './db/bundles/bundles.ts';
import type { Database } from './db/database.ts';
import { listReadingDags, tenantsThatRead, warnOfChangedValues } from './db/dags/values-read.ts';
import { keyOf } from './vault/compile-values.ts';
import type { CompileValues } from './vault/compile-values.ts';

const NAMED = 5;
/** As the deployments of bundles name it. */
const ASKED_BY = 'changed values';

export function createChangedValues(input: {
  db: Database;
  compileValues: (tenantId: string) => CompileValues;
  /** Files below it are compiled again without help; empty if there are none. */
  workspace: string;
}): { look(): Promise<void> } {
  const { db, compileValues, workspace } = input;
  /** By tenant, the state that was compared last. */
  let seen = new Map<string, string>();

  async function lookAt(tenantId: string): Promise<void> {
    const tenant = db.tenant(tenantId);
    const dags = (await listReadingDags(tenant)).filter(
      ({ fileloc }) => workspace === '' || !fileloc.startsWith(workspace + sep),
    );
    const changed = await compileValues(tenantId).changed(dags.flatMap(({ reads }) => reads));
    const old: string[] = [];
    for (const { dagId, reads, warning } of dags) {
      const names = reads.map(keyOf).filter((key) => changed.has(key));
      const message = names.length === 0 ? null : messageOf(names);
      if (message === warning) continue;
      await warnOfChangedValues(tenant, dagId, message);
      if (message !== null) old.push(dagId);
    }
    if (old.length > 0) await askForSyncOf(tenant, old, ASKED_BY);
  }

  return {
    async look() {
      const tenants = await tenantsThatRead(db.shared);
      for (const { tenantId, state } of tenants) if (seen.get(tenantId) !== state) await lookAt(tenantId);
      seen = new Map(tenants.map(({ tenantId, state }) => [tenantId, state]));
    },
  };
}

function messageOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  const listed = `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `Compiled with an older value of: ${listed}. Deploy the DAG again, or leave svc deploy --watch running`;
}
