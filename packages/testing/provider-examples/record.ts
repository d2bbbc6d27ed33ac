/** How example DAG files of providers end on Airflow 3.2.2, by `DAG.test()` (scripts/golden/provider_example_states.py). */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { airflowWithProviders } from '../airflow/airflow-with-providers.ts';
import type { RunEnd } from '../airflow/example-states.ts';
import { ROOT } from '../paths.ts';
import { LOGICAL_DATE } from './golden.ts';
import type { Connection, ExampleServers } from './servers.ts';

/** `error`: the file does not load, or a DAG of it has not ended in time. */
export type EndOnAirflow = { file: string; dag?: string; end?: RunEnd; error?: string; seconds?: number };

const LIMIT_SECONDS = 300;

/** What tasks said in errors goes to stderr. */
export async function* recordOnAirflow(input: {
  dags: string;
  files: readonly string[];
  servers: ExampleServers;
}): AsyncGenerator<EndOnAirflow> {
  const { dags, files, servers } = input;
  const python = await airflowWithProviders();
  const home = mkdtempSync(join(tmpdir(), 'svc-record-provider-examples-'));
  const order = { dags_folder: dags, files, logical_date: LOGICAL_DATE, limit_seconds: LIMIT_SECONDS };
  const script = join(ROOT, 'scripts', 'golden', 'provider_example_states.py');
  const child = spawn(python, [script, JSON.stringify(order)], {
    env: { ...process.env, ...servers.env, ...asVariables(servers.connections), AIRFLOW_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: home, // examples write files where they are
  });
  try {
    for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as EndOnAirflow;
  } finally {
    child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  }
}

function asVariables(connections: Record<string, Connection>): Record<string, string> {
  const named = Object.entries(connections).map(([id, { extra, ...rest }]): [string, string] => [
    `AIRFLOW_CONN_${id.toUpperCase()}`,
    JSON.stringify({ ...rest, ...(extra !== undefined && { extra: JSON.parse(extra) as object }) }),
  ]);
  return Object.fromEntries(named);
}
