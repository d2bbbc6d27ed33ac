// Writes packages/server/engine/golden/live-states.json: how runs end on a real Airflow with its scheduler, where
// `DAG.test()` (golden/run_states.py, which is much faster) cannot say: runs of a schedule, failures that stop others.
//
//   node scripts/live-states.ts [DAG id …]      # those alone; the others stay as they are

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installAirflow, startAirflow } from '@svc/testing/airflow/airflow-processes.ts';
import type { RealAirflow } from '@svc/testing/airflow/airflow-processes.ts';

const ROOT = join(import.meta.dirname, '..');
const DAGS_FOLDER = join(ROOT, 'python', 'tests', 'run_dags');
const OUTPUT = join(ROOT, 'packages', 'server', 'engine', 'golden', 'live-states.json');

const BY_SCHEDULE = [
  'latest_only_in_time',
  'latest_only_late',
  'past_downstream_fails_on_second_day',
  'past_fails_on_second_day',
  'past_skips_on_second_day',
];

const BY_HAND = [
  'fails_fast',
  'fails_fast_with_retries',
  'mapped_fails_fast',
  'teardown_fails_fast',
  'starts_early',
  'group_with_branch',
  'wait_target_fails',
  'wait_target_succeeds',
  'waits_for_runs',
];

/** By the dates in their tags. */
const BY_DATE = [
  'dates_alone',
  'dates_by_backfill',
  'dates_by_default',
  'dates_by_hand',
  'dates_by_schedule',
  'dates_of_tasks',
];

/** Nothing happened for this long and nothing runs: what waits now waits for ever. */
const SETTLED_MS = 45_000;

type Run = { dag_run_id: string; state: string; logical_date: string };
type Instance = { task_id: string; map_index: number; state: string | null };
type RunEnd = { state: string; instances: Record<string, string | null> };

const BUSY = new Set(['scheduled', 'queued', 'running', 'restarting', 'up_for_retry', 'up_for_reschedule']);

async function readRuns({ api }: RealAirflow, dagId: string): Promise<RunEnd[]> {
  const { dag_runs: runs } = await api<{ dag_runs: Run[] }>('GET', `/dags/${dagId}/dagRuns?order_by=logical_date`);
  return Promise.all(
    runs.map(async ({ dag_run_id: id, state }) => {
      const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(id)}/taskInstances?limit=100`;
      const { task_instances: instances } = await api<{ task_instances: Instance[] }>('GET', path);
      const named = instances.map(({ task_id: task, map_index: index, state: end }): [string, string | null] => [
        index < 0 ? task : `${task}[${index}]`,
        end,
      ]);
      return { state, instances: Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
    }),
  );
}

const isBusy = (run: RunEnd): boolean =>
  Object.values(run.instances).some((state) => state !== null && BUSY.has(state));

async function whenSettled(airflow: RealAirflow, dagId: string): Promise<RunEnd[]> {
  let before = '';
  for (let since = Date.now(); ; await sleep(1_000)) {
    const runs = await readRuns(airflow, dagId);
    const now = JSON.stringify(runs);
    if (now !== before || runs.length === 0 || runs.some(isBusy)) since = Date.now();
    before = now;
    const settled = runs.every(({ state }) => state === 'success' || state === 'failed');
    if (Date.now() - since > (settled ? 0 : SETTLED_MS) && runs.length > 0) return runs;
  }
}

async function startRuns({ api }: RealAirflow, dagId: string): Promise<void> {
  if (BY_HAND.includes(dagId)) await api('POST', `/dags/${dagId}/dagRuns`, { logical_date: null });
  const { tags } = await api<{ tags: { name: string }[] }>('GET', `/dags/${dagId}`);
  for (const { name } of tags.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const [kind, from, to] = name.split(' ');
    const date = from === 'none' ? null : `${from}T00:00:00Z`;
    if (kind === 'on') await api('POST', `/dags/${dagId}/dagRuns`, { logical_date: date });
    if (kind === 'backfill')
      await api('POST', '/backfills', {
        dag_id: dagId,
        from_date: date,
        to_date: `${to}T00:00:00Z`,
        max_active_runs: 9,
      });
  }
}

await installAirflow();
const only = process.argv.slice(2);
const files = readdirSync(DAGS_FOLDER).filter((name) => name.endsWith('.py'));
const airflow = await startAirflow(
  Object.fromEntries(files.map((name) => [name, readFileSync(join(DAGS_FOLDER, name), 'utf8')])),
);
try {
  const found = JSON.parse(readFileSync(OUTPUT, 'utf8')) as Record<string, RunEnd[]>;
  // One after the other: a busy Airflow fails tasks that have done nothing wrong.
  for (const dagId of [...BY_SCHEDULE, ...BY_HAND, ...BY_DATE].toSorted()) {
    if (only.length > 0 && !only.includes(dagId)) continue;
    await airflow.addDag(dagId);
    await startRuns(airflow, dagId);
    found[dagId] = await whenSettled(airflow, dagId);
    process.stdout.write(`${dagId}: ${found[dagId].map(({ state }) => state).join(' ')}\n`);
    writeFileSync(OUTPUT, `${JSON.stringify(found, null, 2)}\n`);
  }
} finally {
  await airflow.stop();
}
