/** Clears in one run or in many: first a preview, then run by run, each in a transaction of its own. */
import { isFailure } from '@svc/spec/states.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { Database, SharedDb, TenantDb } from '../../db/database.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import type { RunEffects } from '../advance/run-effects.ts';
import { clearRun } from './clear.ts';
import type { ClearOptions } from './clear.ts';
import type { EditTools } from './edit-run.ts';
import { findSelected, refuseImported, selectToClear } from './select-instances.ts';
import type { InstanceOfRun } from '../../db/task-instances/task-instances.ts';
import type { FoundInstance, RunKey } from '../sql/find-runs.ts';

/**
 * Returns the instances that a clear of these runs would change now, by run, task and map index. Changes and locks
 * nothing.
 */
export const previewClear = (
  db: SharedDb,
  tools: EditTools,
  input: { tenantId: string; dagId: string; runs: readonly RunKey[]; options: ClearOptions },
): Promise<FoundInstance[]> => {
  const { options } = input;
  return findSelected(db, tools, {
    ...input,
    onLatestVersion: options.onLatestVersion,
    // A task that is not in the graph cannot run again.
    select: (blueprint) =>
      new Map([...selectToClear(blueprint, options.tasks, options)].filter(([taskId]) => blueprint.tasks.has(taskId))),
    wanted: (state) => !options.onlyFailed || isFailure(state),
  });
};

export type ClearOutcome =
  | { kind: 'cleared'; instances: InstanceOfRun[] }
  /** Nothing was changed in this run. Runs with smaller ids were cleared. */
  | { kind: 'running'; run: number; keys: KeyInRun[]; clearedBefore: number };

export type ClearTools = EditTools & {
  /** Called after each commit. */
  applyEffects(effects: RunEffects): void;
};

/**
 * Clears the runs in the order of their ids. `whenCleared` is called within the transaction, which contains its reads
 * and writes.
 */
export async function clearRuns(
  db: Database,
  tools: ClearTools,
  input: {
    tenantId: string;
    dagId: string;
    runs: readonly RunKey[];
    options: ClearOptions;
    whenCleared?: (trx: TenantDb, run: RunKey, instances: readonly InstanceOfRun[]) => Promise<void>;
  },
): Promise<ClearOutcome> {
  const { tenantId, dagId, runs, options, whenCleared } = input;
  await refuseImported(db.shared, { tenantId, runs });
  const instances: InstanceOfRun[] = [];
  for (const run of runs.toSorted((a, b) => a.id - b.id)) {
    const outcome = await db.shared.transaction().execute((trx) =>
      clearRun(
        trx,
        tools,
        { tenantId, dagId, run: run.id },
        {
          ...options,
          whenCleared: async (keys) => {
            const own = keys.map((key) => ({ ...key, run: run.id }));
            await whenCleared?.(scopedToTenant(trx, tenantId), run, own);
          },
        },
      ),
    );
    if (outcome.kind === 'running') {
      return { kind: 'running', run: run.id, keys: outcome.keys, clearedBefore: instances.length };
    }
    if (outcome.kind === 'no_such_run') continue; // deleted in the meantime
    tools.applyEffects(outcome.effects);
    instances.push(...outcome.keys.map((key) => ({ ...key, run: run.id })));
  }
  return { kind: 'cleared', instances };
}
