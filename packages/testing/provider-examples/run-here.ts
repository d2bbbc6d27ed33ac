/** Runs example DAG files of providers on a control plane of ours, one after the other, with the same servers as on Airflow. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { RunEnd } from '../airflow/example-states.ts';
import { endOf } from '../airflow/run-examples.ts';
import { startLiveServer } from '../server/live-server.ts';
import type { LiveServer } from '../server/live-server.ts';
import { LOGICAL_DATE } from './golden.ts';
import type { ExampleServers } from './servers.ts';

/** `refused`: why the file did not compile; `log`: the last lines of each task that failed. */
export type EndHere = { file: string; dag: string; end?: RunEnd; refused?: string; log?: Record<string, string> };

const RUN_MUST_END_WITHIN_MS = 300_000;
const LINES_OF_LOG = 12;
/** Providers import for a long time where the machine is busy. */
const LIMITS = { wall_seconds: 240, cpu_seconds: 120, memory_bytes: 8 << 30 };

export async function runHere(input: {
  python: string;
  dags: string;
  files: readonly string[];
  servers: ExampleServers;
  onEnd?: (end: EndHere) => void;
}): Promise<EndHere[]> {
  const { python, dags, files, servers, onEnd } = input;
  // Examples write files where they are.
  const live = await startLiveServer({ python }, [], servers.env, servers.folder);
  const compiler = createCompiler({ python });
  const ends: EndHere[] = [];
  try {
    for (const [id, connection] of Object.entries(servers.connections))
      await live.api('POST', '/connections', { connection_id: id, ...connection });
    for (const file of files) {
      const path = join(dags, file);
      const answer = await compiler.compile({ path, dagsFolder: dags, env: servers.env, limits: LIMITS });
      const found: EndHere[] = [];
      if (!answer.ok) found.push({ file, dag: '', refused: answer.error.message });
      else
        for (const { dag_id: dag, spec: compiled } of answer.dags) {
          // Without its schedule: a run of that would work on the same buckets and tables at the same time.
          const spec = { ...(compiled as object), schedule: { type: 'null' } };
          await live.api('POST', `/dags/${dag}/dagVersions`, { spec, fileloc: path });
          found.push({ file, dag, ...(await runOnce(live, dag)) });
        }
      for (const end of found) onEnd?.(end);
      ends.push(...found);
    }
  } finally {
    await compiler.close();
    await live.close();
  }
  return ends;
}

/** Paused again afterwards: what its schedule would start is not compared. */
async function runOnce(live: LiveServer, dag: string): Promise<{ end: RunEnd; log: Record<string, string> }> {
  await live.api('PATCH', `/dags/${dag}`, { is_paused: false });
  const id = await live.trigger(dag, { logical_date: LOGICAL_DATE });
  const path = `/dags/${dag}/dagRuns/${encodeURIComponent(id)}`;
  const deadline = Date.now() + RUN_MUST_END_WITHIN_MS;
  let end = await endOf(live.api, path);
  while (end.state !== 'success' && end.state !== 'failed' && Date.now() < deadline) {
    await sleep(200);
    end = await endOf(live.api, path);
  }
  await live.api('PATCH', `/dags/${dag}`, { is_paused: true });
  const failed = Object.keys(end.instances).filter((task) => end.instances[task] === 'failed' && task !== 'watcher');
  const log: Record<string, string> = {};
  for (const task of failed.filter((name) => !name.includes('['))) log[task] = await lastLines(live, path, task);
  return { end, log };
}

async function lastLines(live: LiveServer, path: string, task: string): Promise<string> {
  const headers = { authorization: `Bearer ${live.token}`, accept: 'text/plain' };
  const answer = await fetch(`${live.url}/api/v2${path}/taskInstances/${task}/logs/1`, { headers });
  return (await answer.text()).trim().split('\n').slice(-LINES_OF_LOG).join('\n');
}
