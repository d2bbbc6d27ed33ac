/** Reads what else held the limits that a run has waited for, and what the run itself has waited for. */
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import type { PlannedAgain } from '@svc/server/engine/single-run/recorded-run.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { attemptOf } from './recorded-run.ts';
import type { RecordedRun } from './recorded-run.ts';
import { lateStarts, waitsOfRun } from './waits-of-run.ts';
import type { Attempt, Wait } from './waits-of-run.ts';

const PAGE = 1_000;
const LEAST_WAIT_MS = 1_000;

export type PastWait = { task_id: string; map_index: number; from: string; to: string; run: string; state: string };
export type RunWait = { from: string; to: string; limit: number; held_by: string[] };
export type Waits = { tasks: Wait[]; past: PastWait[]; run: RunWait | null };

export async function readWaits(client: Client, recorded: RecordedRun, planned: PlannedAgain): Promise<Waits> {
  const { recording, attempts, run } = recorded;
  const late = lateStarts(attempts);
  const [from, to] = [least(late.map((one) => one.scheduledAt)), most(late.map((one) => one.queuedAt))];
  const others = from === null || to === null ? [] : await holdersOf(client, run, { from, to });
  const poolSlots = await slotsOf(client, new Set(late.map(({ pool }) => pool)));
  return {
    tasks: waitsOfRun(recording.spec, { run: attempts, others, poolSlots }),
    past: await pastWaits(client, recorded, planned),
    run: await waitOfRun(client, recorded),
  };
}

const least = (texts: readonly string[]): string | null => texts.toSorted()[0] ?? null;
const most = (texts: readonly string[]): string | null => texts.toSorted().at(-1) ?? null;

/** Tries of other runs. Of an instance only its latest try is found. */
async function holdersOf(client: Client, run: DagRun, { from, to }: { from: string; to: string }): Promise<Attempt[]> {
  const path = { dag_id: '~', dag_run_id: '~' };
  const list = (query: object): Promise<TaskInstance[]> =>
    client.list('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', 'task_instances', {
      path,
      query: { limit: PAGE, start_date_lte: to, ...query },
    });
  const found = [...(await list({ end_date_gte: from })), ...(await list({ state: ['queued', 'running'] }))];
  return found.filter((one) => one.dag_id !== run.dag_id || one.dag_run_id !== run.dag_run_id).map(attemptOf);
}

/** As they are today. A pool that is gone, or that the caller may not read, is left out. */
async function slotsOf(client: Client, names: ReadonlySet<string>): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const name of names) {
    try {
      found.set(name, (await client.get('/api/v2/pools/{pool_name}', { path: { pool_name: name } })).slots);
    } catch (error) {
      if (!(error instanceof CliError) || !LEFT_OUT.has(error.exitCode)) throw error;
    }
  }
  return found;
}

const LEFT_OUT = new Set<number>([EXIT.notFound, EXIT.denied]);

/** Instances whose rule let them run before they were scheduled, because their own past had not ended. */
async function pastWaits(
  client: Client,
  { recording, run, attempts }: RecordedRun,
  planned: PlannedAgain,
): Promise<PastWait[]> {
  const dependent = new Set(
    recording.spec.tasks.filter(({ policy }) => policy.depends_on_past).map(({ task_id: id }) => id),
  );
  if (dependent.size === 0 || run.logical_date === null) return [];
  const { dag_runs: runs } = await client.get('/api/v2/dags/{dag_id}/dagRuns', {
    path: { dag_id: run.dag_id },
    query: { logical_date_lt: run.logical_date, order_by: ['-logical_date'], limit: 1 },
  });
  const [previous] = runs;
  if (!previous) return [];
  const past = await client.list('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', 'task_instances', {
    path: { dag_id: run.dag_id, dag_run_id: previous.dag_run_id },
    query: { limit: PAGE },
  });
  const ready = planned.decisions.flatMap(({ at, decided }) =>
    decided.flatMap(({ taskId, mapIndex, state }) => (state === 'scheduled' ? [{ at, taskId, mapIndex }] : [])),
  );
  return ready.flatMap(({ at, taskId, mapIndex }): PastWait[] => {
    if (!dependent.has(taskId)) return [];
    const first = attempts.find((one) => one.taskId === taskId && one.mapIndex === mapIndex);
    const earlier = past.find((one) => one.task_id === taskId && (one.map_index === mapIndex || one.map_index < 0));
    const [to, ended] = [first?.scheduledAt ?? null, earlier?.end_date ?? null];
    if (to === null || ended === null || !earlier || Date.parse(to) - Date.parse(at) < LEAST_WAIT_MS) return [];
    // Its past had ended before, so something else has delayed it.
    if (Date.parse(ended) <= Date.parse(at)) return [];
    return [
      { task_id: taskId, map_index: mapIndex, from: at, to, run: previous.dag_run_id, state: `${earlier.state}` },
    ];
  });
}

/** From when the run could start until it started, if max_active_runs other runs were active all that time. */
async function waitOfRun(client: Client, { recording, run }: RecordedRun): Promise<RunWait | null> {
  const limit = recording.spec.dag.max_active_runs;
  const from = most([run.run_after, run.queued_at ?? run.run_after]) ?? run.run_after;
  const to = recording.startedAt;
  if (Date.parse(to) - Date.parse(from) < LEAST_WAIT_MS) return null;
  const list = (query: object): Promise<DagRun[]> =>
    client.list('/api/v2/dags/{dag_id}/dagRuns', 'dag_runs', {
      path: { dag_id: run.dag_id },
      query: { limit: PAGE, start_date_lte: from, ...query },
    });
  const active = [...(await list({ end_date_gte: to })), ...(await list({ state: ['running'] }))];
  const endedNow = await list({ end_date_gte: from, end_date_lte: to });
  const held = new Set([...active, ...endedNow].map(({ dag_run_id: id }) => id).filter((id) => id !== run.dag_run_id));
  return held.size < limit ? null : { from, to, limit, held_by: [...held] };
}
