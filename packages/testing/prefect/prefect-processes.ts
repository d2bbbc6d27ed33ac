/** A real Prefect as its documentation has it run: a server on a Postgres of its own, and a worker of a process work pool. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { InstanceTimes } from '../server/live-server.ts';
import { freePort } from '../services/free-port.ts';
import { prefectPython } from './environment.ts';

const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 20_000;
const POOL = 'bench';

type FlowRun = {
  id: string;
  state_type: string;
  expected_start_time: string;
  start_time: string;
  end_time: string;
};
type TaskRun = { id: string; name: string; state_type: string; start_time: string | null; end_time: string | null };

/** `flows`: the text of a file, and the functions in it that are deployed. */
export async function startPrefect({ text, names }: { text: string; names: readonly string[] }) {
  const python = await prefectPython();
  const home = await mkdtemp(join(tmpdir(), 'svc-bench-prefect-'));
  await writeFile(join(home, 'flows.py'), text);
  const cluster = await startScratchCluster({ fsync: 'on' });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/api`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    PREFECT_HOME: home,
    PREFECT_API_URL: url,
    PREFECT_API_DATABASE_CONNECTION_URL: forAsyncpg(await cluster.createDatabase()),
    // Nothing but tasks is asked of the outside.
    PREFECT_SERVER_ANALYTICS_ENABLED: 'false',
    DO_NOT_TRACK: '1',
  };
  const processes: ChildProcess[] = [];
  const start = (name: string, args: readonly string[]): void => {
    const output = openSync(join(home, `${name}.log`), 'a');
    processes.push(
      spawn(python, ['-m', 'prefect', ...args], { env, stdio: ['ignore', output, output], detached: true, cwd: home }),
    );
  };
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map(endGroup));
    await cluster.remove();
    await rm(home, { recursive: true, force: true });
  };
  const logTail = (name: string): string => readFileSync(join(home, `${name}.log`), 'utf8').slice(-2_000);

  async function api<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`Prefect: ${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  try {
    start('server', ['server', 'start', '--host', '127.0.0.1', '--port', String(port)]);
    for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(500)) {
      if ((await fetch(`${url}/health`).catch(() => undefined))?.ok) break;
      if (Date.now() > deadline || processes.some(({ exitCode }) => exitCode !== null))
        throw new Error(`prefect server does not answer:\n${logTail('server')}`);
    }
    const run = promisify(execFile);
    await run(python, ['-m', 'prefect', 'work-pool', 'create', POOL, '--type', 'process'], { env, cwd: home });
    const deployments = names.map(
      (name) =>
        `flow.from_source(source=${JSON.stringify(home)}, entrypoint="flows.py:${name}").deploy(name="bench", work_pool_name="${POOL}")`,
    );
    await run(python, ['-c', ['from prefect import flow', ...deployments].join('\n')], { env, cwd: home });
    start('worker', ['worker', 'start', '--pool', POOL]);
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    stop,
    /** `name` as it is deployed: with hyphens. */
    async run(
      name: string,
    ): Promise<{ askedAt: number; run: { start_date: string; end_date: string }; instances: InstanceTimes[] }> {
      const { id } = await api<{ id: string }>('GET', `/deployments/name/${name}/bench`);
      const askedAt = Date.now();
      let run = await api<FlowRun>('POST', `/deployments/${id}/create_flow_run`, {});
      // Polled rarely: the poller shares the machine with what it watches.
      while (!['COMPLETED', 'FAILED', 'CRASHED', 'CANCELLED'].includes(run.state_type)) {
        await sleep(500);
        run = await api<FlowRun>('GET', `/flow_runs/${run.id}`);
      }
      if (run.state_type !== 'COMPLETED')
        throw new Error(`the run of ${name} on Prefect ended ${run.state_type}:\n${logTail('worker')}`);
      return {
        askedAt,
        run: { start_date: isoOf(run.start_time), end_date: isoOf(run.end_time) },
        instances: await taskRuns(api, run.id),
      };
    },
  };
}

/** Its driver knows other parameters than ours. */
const forAsyncpg = (url: string): string => url.replace(/^postgres(ql)?:/, 'postgresql+asyncpg:').replace(/\?.*$/, '');

/** Its server records task runs a little behind them. */
async function taskRuns(
  api: <T>(method: string, path: string, body?: object) => Promise<T>,
  flowRun: string,
): Promise<InstanceTimes[]> {
  for (;;) {
    const runs = await api<TaskRun[]>('POST', '/task_runs/filter', {
      flow_runs: { id: { any_: [flowRun] } },
      limit: 200,
    });
    if (runs.length > 0 && runs.every(({ state_type }) => state_type === 'COMPLETED'))
      return runs.map(({ name, start_time, end_time }) => ({
        task_id: name,
        map_index: -1,
        state: 'success',
        start_date: start_time && isoOf(start_time),
        end_date: end_time && isoOf(end_time),
      }));
    await sleep(500);
  }
}

/** With six digits of the second, as our own times have them. */
const isoOf = (moment: string): string => {
  const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d+))?/.exec(moment) ?? [];
  return `${seconds}.${fraction.padEnd(6, '0').slice(0, 6)}Z`;
};

async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    try {
      process.kill(-pid, signal);
    } catch {
      return; // nobody of the group is left
    }
    await Promise.race([gone, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  }
}
