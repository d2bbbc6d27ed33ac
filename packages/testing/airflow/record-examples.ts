/**
 * How example DAGs end on a real Airflow: most by `DAG.test()` (scripts/golden/example_states.py), which is fast; those that wait for
 * other runs, or for the timeout of a trigger, with its scheduler and triggerer.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../paths.ts';
import { airflowPython, installAirflow, startAirflow } from './airflow-processes.ts';
import type { AirflowVersion } from './airflow-processes.ts';
import { BEFORE, BESIDE, CONF, LATER_DATES, LOGICAL_DATE, OUTSIDE, goldenKey, isSettled } from './example-states.ts';
import type { RunEnd } from './example-states.ts';
import { endOf } from './run-examples.ts';

type OnEnd = (key: string, end: RunEnd) => void;
type Line = { dag?: string; end?: RunEnd; seconds?: number; file?: string; error?: string };

const ASSET_FILES = ['example_outlet_event_extra.py', 'example_inlet_event_extra.py'];
/** In this order, with the files that have them and what they start; whether an asset is active, only a scheduler says. */
const WITH_SCHEDULER: Readonly<Record<string, readonly string[]>> = {
  asset_with_extra_by_context: ASSET_FILES,
  asset_with_extra_by_yield: ASSET_FILES,
  asset_with_extra_from_classic_operator: ASSET_FILES,
  read_asset_event: ASSET_FILES,
  read_asset_event_from_classic: ASSET_FILES,
  example_external_task: ['example_external_task_parent_deferrable.py', 'example_external_task_child_deferrable.py'],
  example_sensors: ['example_sensors.py'],
  example_external_task_marker_child: ['example_external_task_marker_dag.py'],
};

/** Which task is taken depends on the clock there: one run at each. */
const MOMENTS = {
  example_branch_datetime_operator_2: {
    'before 15:00': '2026-11-17T10:00:00+00:00',
    'after 15:00': '2026-11-17T16:00:00+00:00',
  },
  example_weekday_branch_operator: {
    monday: '2026-11-16T10:00:00+00:00',
    midweek: '2026-11-17T10:00:00+00:00',
    weekend: '2026-11-21T10:00:00+00:00',
  },
};

const LIMIT_SECONDS = 150;

type Order = { repository: string; only: readonly string[]; onEnd: OnEnd };

/** `repository` as example-corpus.ts makes it. What does not run there is told on stderr. */
export async function recordExamples({ version, ...order }: Order & { version: AirflowVersion }): Promise<void> {
  await installAirflow(version);
  await recordTested({ python: airflowPython(version), ...order });
  await recordScheduled({ version, ...order });
}

/** Those whose ends `DAG.test()` can say, in the Airflow of this interpreter. */
export async function recordTested({ python, repository, only, onEnd }: Order & { python: string }): Promise<void> {
  const providers = join(dirname(repository), 'package', 'airflow', 'providers');
  const order = {
    dags_folder: join(repository, 'dags'),
    // Examples of a provider are judged by the provider that they come with.
    providers: existsSync(providers) ? providers : null,
    logical_date: LOGICAL_DATE,
    later_dates: LATER_DATES,
    skip: [...Object.keys(OUTSIDE), ...Object.keys(WITH_SCHEDULER)],
    only,
    conf: CONF,
    moments: MOMENTS,
    limit_seconds: LIMIT_SECONDS,
  };
  const home = mkdtempSync(join(tmpdir(), 'svc-record-examples-'));
  try {
    const script = join(ROOT, 'scripts', 'golden', 'example_states.py');
    const child = spawn(python, [script, JSON.stringify(order)], {
      env: { ...process.env, AIRFLOW_HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    for await (const text of createInterface(child.stdout)) {
      const line = JSON.parse(text) as Line;
      if (line.dag !== undefined && line.end) onEnd(line.dag, line.end);
      process.stderr.write(
        `on Airflow: ${line.dag ?? line.file}: ${line.error ?? line.end?.state} ${line.seconds ?? ''}\n`,
      );
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function recordScheduled(input: Order & { version: AirflowVersion }): Promise<void> {
  const { version, repository, only, onEnd } = input;
  const paths = readdirSync(repository, { recursive: true, encoding: 'utf8' });
  const fileNamed = (name: string): string | undefined => paths.find((path) => path.endsWith(`/${name}`));
  const chosen = Object.entries(WITH_SCHEDULER).filter(
    ([dagId, files]) => (only.length === 0 || only.includes(dagId)) && files.every((name) => fileNamed(name)),
  );
  if (chosen.length === 0) return;
  const dags = chosen.flatMap(([, files]) =>
    files.map((name) => [name, readFileSync(join(repository, fileNamed(name) ?? ''), 'utf8')] as const),
  );
  const airflow = await startAirflow(Object.fromEntries(dags), { triggerer: true, version });
  try {
    for (const [dagId] of chosen) {
      for (const id of [...(BESIDE[dagId] ?? []), dagId]) await airflow.addDag(id);
      const before = BEFORE[dagId];
      if (before !== undefined) {
        await airflow.addDag(before);
        await airflow.api('POST', `/dags/${before}/dagRuns`, { logical_date: LOGICAL_DATE });
      }
      const runs = `/dags/${dagId}/dagRuns`;
      const order = { logical_date: LOGICAL_DATE, conf: CONF[dagId] ?? {} };
      const { dag_run_id: id } = await airflow.api<{ dag_run_id: string }>('POST', runs, order);
      let end: RunEnd = { state: 'queued', instances: {} };
      while (!isSettled(dagId, end)) {
        await sleep(1_000);
        // Under load its API answers 500 now and then; the run goes on all the same.
        end = await endOf(airflow.api, `${runs}/${encodeURIComponent(id)}`).catch(() => end);
      }
      onEnd(goldenKey(dagId, new Date()), end);
      process.stderr.write(`on Airflow, with its scheduler: ${dagId}: ${end.state}\n`);
    }
  } finally {
    await airflow.stop();
  }
}
