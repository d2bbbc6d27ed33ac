/** Clears in one run or in many: first what it would be, then run by run, each in a transaction of its own. */
import { sql } from 'kysely';
import { isFailure } from '@svc/spec/states.ts';
import type { TaskStateOrNone } from '@svc/spec/states.ts';
import { scopedToTenant } from '../db/database.ts';
import type { Database, SharedDb, TenantDb } from '../db/database.ts';
import type { KeyInRun } from '../db/run-edits.ts';
import type { RunEffects } from './apply-to-runs.ts';
import { clearRun } from './clear.ts';
import type { ClearOptions } from './clear.ts';
import type { EditTools } from './edit-run.ts';
import { isSelected, selectToClear } from './select-instances.ts';
import type { RunKey } from './select-instances.ts';

export type PlaceInRun = KeyInRun & { run: number };
type Found = PlaceInRun & { state: TaskStateOrNone };

/** What a clear of these runs would be about now, by run, task and map index. Changes nothing, locks nothing. */
export async function previewClear(
  db: SharedDb,
  tools: EditTools,
  input: { tenantId: string; dagId: string; runs: readonly RunKey[]; options: ClearOptions },
): Promise<Found[]> {
  const { tenantId, dagId, runs, options } = input;
  const versions = await versionsOf(db, input);
  const byVersion = Map.groupBy(runs, (run) => versions.get(run.id) ?? 0);
  const found: Found[] = [];
  for (const [versionNumber, ofVersion] of byVersion) {
    if (versionNumber === 0) continue; // deleted meanwhile
    const { blueprint } = await tools.graphs.get(db, { tenantId, dagId, versionNumber });
    const selection = selectToClear(blueprint, options.tasks, options);
    const taskIds = [...selection.keys()].filter((taskId) => blueprint.tasks.has(taskId));
    const { rows } = await sql<Found>`
      select run, task_id as "taskId", map_index as "mapIndex", state from task_instances
      where tenant_id = ${tenantId} and run = any(${ofVersion.map((run) => run.id)}::bigint[])
        and task_id = any(${taskIds}::text[])
        and (not ${options.onlyFailed}::boolean or state in ('failed', 'upstream_failed'))`.execute(db);
    found.push(...rows.filter((row) => isSelected(selection, row) && (!options.onlyFailed || isFailure(row.state))));
  }
  return found.sort((a, b) => a.run - b.run || compareText(a.taskId, b.taskId) || a.mapIndex - b.mapIndex);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The version each run is bound to, or will be. */
async function versionsOf(
  db: SharedDb,
  {
    tenantId,
    dagId,
    runs,
    options,
  }: { tenantId: string; dagId: string; runs: readonly RunKey[]; options: ClearOptions },
): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; version: number }>`
    select r.id, case when ${options.onLatestVersion}::boolean then d.current_version else r.version_number end as version
    from dag_runs r join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id
    where r.tenant_id = ${tenantId} and r.dag_id = ${dagId} and r.id = any(${runs.map((run) => run.id)}::bigint[])`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.id, row.version]));
}

export type ClearOutcome =
  | { kind: 'cleared'; places: PlaceInRun[] }
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
    whenCleared?: (trx: TenantDb, run: RunKey, places: readonly PlaceInRun[]) => Promise<void>;
  },
): Promise<ClearOutcome> {
  const { tenantId, dagId, runs, options, whenCleared } = input;
  const places: PlaceInRun[] = [];
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
      return { kind: 'running', run: run.id, keys: outcome.keys, clearedBefore: places.length };
    }
    if (outcome.kind === 'no_such_run') continue; // deleted meanwhile
    tools.applyEffects(outcome.effects);
    places.push(...outcome.keys.map((key) => ({ ...key, run: run.id })));
  }
  return { kind: 'cleared', places };
}
