/** Marks in one run or in many: first a preview, then run by run, each in a transaction of its own. */
import { scopedToTenant } from '../../db/database.ts';
import type { Database, SharedDb, TenantDb } from '../../db/database.ts';
import type { ClearTools } from './clear-many.ts';
import type { EditTools } from './edit-run.ts';
import { markInRun } from './mark.ts';
import type { MarkOptions } from './mark.ts';
import { findSelected, refuseImported, selectToMark } from './select-instances.ts';
import type { InstanceOfRun } from '../../db/task-instances/task-instances.ts';
import type { FoundInstance, RunKey } from '../sql/find-runs.ts';

type MarkInput = { tenantId: string; dagId: string; runs: readonly RunKey[]; options: MarkOptions };

/** Returns the instances that have another state. Changes and locks nothing. */
export const previewMark = (db: SharedDb, tools: EditTools, input: MarkInput): Promise<FoundInstance[]> =>
  findSelected(db, tools, {
    ...input,
    onLatestVersion: false,
    select: (blueprint) => selectToMark(blueprint, input.options.tasks, input.options),
    wanted: (state) => state !== input.options.state,
  });

/** Marks the runs in the order of their ids. `whenMarked` is called within the transaction, after planning. */
export async function markRuns(
  db: Database,
  tools: ClearTools,
  input: MarkInput & {
    whenMarked?: (
      trx: TenantDb,
      run: RunKey,
      instances: { marked: readonly InstanceOfRun[]; cleared: readonly InstanceOfRun[] },
    ) => Promise<void>;
  },
): Promise<InstanceOfRun[]> {
  const { tenantId, dagId, runs, options, whenMarked } = input;
  await refuseImported(db.shared, { tenantId, runs });
  const instances: InstanceOfRun[] = [];
  for (const run of runs.toSorted((a, b) => a.id - b.id)) {
    const effects = await db.shared.transaction().execute(async (trx) => {
      const outcome = await markInRun(trx, tools, { tenantId, dagId, run: run.id }, options);
      if (outcome.kind === 'no_such_run') return undefined; // deleted in the meantime
      const marked = outcome.keys.map((key) => ({ ...key, run: run.id }));
      const cleared = outcome.cleared.map((key) => ({ ...key, run: run.id }));
      if (marked.length > 0) await whenMarked?.(scopedToTenant(trx, tenantId), run, { marked, cleared });
      instances.push(...marked);
      return outcome.effects;
    });
    if (effects) tools.applyEffects(effects);
  }
  return instances;
}
