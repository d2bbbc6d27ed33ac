/**
 * From `queued` to `running`. Every instance of the run is written in the state planning gives it at once: tasks without
 * upstream are scheduled by the insert itself.
 *
 * How many runs of a DAG may be active is counted under the lock of its row, from the runs that are, so two schedulers
 * cannot both take the last place.
 */
import { sql } from 'kysely';
import type { SharedDb } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import {
  concludeAll,
  isHoldingBack,
  noEffects,
  openWork,
  planAll,
  sendChanges,
  writeAll,
} from '../advance/apply-to-runs.ts';
import type { RunEffects } from '../advance/apply-to-runs.ts';
import { secondsAfter } from '@svc/spec/clock.ts';
import type { DagGraphs } from '../dag-graphs.ts';
import { initialInstances } from '../plan/blueprint.ts';
import { plan } from '../plan/plan.ts';
import type { RunWork } from '../advance/run-work.ts';
import { createMemoryView } from './memory-view.ts';

/**
 * The caller holds the lock of the run's row, or has just inserted it. `behindFirst` is sent behind the first instances, before
 * they are answered; not for a run with more of them than may be active, which are let through later.
 */
export async function startRun(
  trx: SharedDb,
  graphs: DagGraphs,
  run: RunRow,
  behindFirst?: () => Promise<unknown>,
): Promise<RunEffects> {
  const [work] = await openWork(trx, graphs, [run]);
  if (!work) return noEffects();
  beginRun(work);
  if (Object.keys(run.state_counts).length > 0) return reopen(trx, work);
  await planFirst(trx, work);
  await Promise.all([sendChanges(trx, [work]), isHoldingBack(work) ? undefined : behindFirst?.()]);
  return concludeAll(trx, [work]);
}

function beginRun(work: RunWork): void {
  const { run, graph } = work;
  const timeout = graph.spec.dag.dagrun_timeout;
  run.state = 'running';
  run.start_date ??= work.now;
  run.end_date = null;
  run.timeout_at = timeout === null ? null : secondsAfter(work.now, timeout);
}

/** A run whose tasks were cleared: its instances exist, and those without a state are looked at again. */
async function reopen(trx: SharedDb, work: RunWork): Promise<RunEffects> {
  const { rows } = await sql<{ taskId: string; mapIndex: number }>`
    select task_id as "taskId", map_index as "mapIndex" from task_instances
    where tenant_id = ${work.run.tenant_id} and run = ${work.run.id} and state is null
    order by task_id, map_index`.execute(trx);
  await planAll(trx, [{ work, events: rows.map((key) => ({ kind: 'check' as const, ...key })) }]);
  return writeAll(trx, [work]);
}

/** Planned before it is written: nothing has to be loaded, and no instance is written twice. */
async function planFirst(trx: SharedDb, work: RunWork): Promise<void> {
  const view = createMemoryView(initialInstances(work.graph.blueprint));
  for (;;) {
    const result = plan(work.graph.blueprint, view, [{ kind: 'started' }]);
    if (result.kind === 'complete') {
      view.apply(result.changes);
      break;
    }
    await view.load(trx, work, result.needs);
  }
  for (const { instance, failure, waits } of view.all()) work.addFresh(instance, { failure, waits });
}

/**
 * Whether a queued run of the DAG would find a place, as far as can be seen without its lock. A run or an end that cannot be
 * seen yet asks again itself when it can. Plan: index dag_runs_live, as many entries as the DAG has active runs.
 */
export async function mayStartQueuedRuns(db: SharedDb, input: { tenantId: string; dagId: string }): Promise<boolean> {
  const { rows } = await sql`
    select from dags d where d.tenant_id = ${input.tenantId} and d.dag_id = ${input.dagId} and not d.is_paused
      and exists (
        select from dag_runs r where r.tenant_id = d.tenant_id and r.dag_id = d.dag_id and r.state = 'queued'
          and r.backfill_id is null and r.run_after <= clock_timestamp()
      ) and d.max_active_runs > (
        select count(*) from dag_runs r where r.tenant_id = d.tenant_id and r.dag_id = d.dag_id and r.state = 'running'
          and r.backfill_id is null
      )`.execute(db);
  return rows.length > 0;
}

/** Starts queued runs of a DAG while max_active_runs allows. Takes the lock of the DAG's row. */
export async function startQueuedRuns(
  trx: SharedDb,
  graphs: DagGraphs,
  input: { tenantId: string; dagId: string },
): Promise<{ started: number; effects: RunEffects[] }> {
  const { tenantId, dagId } = input;
  const dag = await trx
    .selectFrom('dags')
    .select(['is_paused', 'max_active_runs'])
    .where('tenant_id', '=', tenantId)
    .where('dag_id', '=', dagId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!dag || dag.is_paused) return { started: 0, effects: [] };
  const free = dag.max_active_runs - (await countRunning(trx, input));
  if (free <= 0) return { started: 0, effects: [] };
  // Plan: index dag_runs_live, limited. Runs of backfills have their own limit and their own place to start.
  const { rows } = await sql<RunRow>`
    select * from dag_runs where tenant_id = ${tenantId} and dag_id = ${dagId} and state = 'queued'
      and backfill_id is null and run_after <= now()
    order by run_after, id limit ${Math.min(free, STARTS_AT_ONCE)} for no key update skip locked`.execute(trx);
  const effects: RunEffects[] = [];
  for (const run of rows) effects.push(await startRun(trx, graphs, run));
  return { started: rows.length, effects };
}

/** So that one transaction stays short; whoever asked asks again. */
const STARTS_AT_ONCE = 20;

/** Counted from what runs, never kept as a number. Runs of backfills count against their backfill instead. */
export async function countRunning(trx: SharedDb, input: { tenantId: string; dagId: string }): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from dag_runs
    where tenant_id = ${input.tenantId} and dag_id = ${input.dagId} and state = 'running' and backfill_id is null`.execute(
    trx,
  );
  return rows[0]?.count ?? 0;
}
