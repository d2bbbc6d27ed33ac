/** Clears in one run or in many: first what it would be, then run by run, each in a transaction of its own. */
import { isFailure } from '@svc/spec/states.ts';
import { scopedToTenant } from '../../db/database.ts';
import type { Database, SharedDb, TenantDb } from '../../db/database.ts';
import type { KeyInRun } from '../sql/run-edits.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import { clearRun } from './clear.ts';
import type { ClearOptions } from './clear.ts';
import type { EditTools } from './edit-run.ts';
import { findSelected, refuseImported, selectToClear } from './select-instances.ts';
import type { InstanceOfRun } from '../../db/task-instances/task-instances.ts';
import type { FoundInstance, RunKey } from '../sql/find-runs.ts';

/** What a clear of these runs would be about now, by run, task and map index. Changes nothing, locks nothing. */
export const previewClear = (
  db: SharedDb,
  tools: EditTools,
  input: { tenantId: string; dagId: string; runs: readonly RunKey[]; options: ClearOptions },
): Promise<FoundInstance[]> => {
  const { options } = input;
  return findSelected(db, tools, {
    ...input,
    onLatestVersion: options.onLatestVersion,
    // What is not in the graph cannot run again.
    select: (blueprint) =>
      new Map([...selectToClear(blueprint, options.tasks, options)].filter(([taskId]) => blueprint.tasks.has(taskId))),
    wanted: (state) => !options.onlyFailed || isFailure(state),
  });
};

export type ClearOutcome =
  | { kind: 'cleared'; instances: InstanceOfRun[] }
  /** Nothing was changed in this run; runs with smaller ids were cleared. */
  | { kind: 'running'; run: number; keys: KeyInRun[]; clearedBefore: number };

export type ClearTools = EditTools & {
  /** After each commit. */
  applyEffects(effects: RunEffects): void;
};

/** In the order of the runs' ids. `whenCleared` is called within the transaction: reads and writes of its own belong to it. */
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
    if (outcome.kind === 'no_such_run') continue; // deleted meanwhile
    tools.applyEffects(outcome.effects);
    instances.push(...outcome.keys.map((key) => ({ ...key, run: run.id })));
  }
  return { kind: 'cleared', instances };
}
