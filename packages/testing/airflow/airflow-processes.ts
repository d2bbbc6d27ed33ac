/** A real Airflow on a Postgres of its own: API server, scheduler with LocalExecutor and DAG processor. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CACHE } from '../paths.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import type { InstanceTimes } from '../server/live-server.ts';
import { freePort } from '../services/free-port.ts';

/** The versions that tests compare with. Most of them were recorded on the older one. */
export type AirflowVersion = '3.2.2' | '3.3.2';

/** Not bin/airflow: it names the path of the clone that installed it, and clones may share the cache. */
export const airflowPython = (version: AirflowVersion): string => join(CACHE, `airflow-${version}`, 'bin', 'python');
/** Airflow imports for many seconds, and so does each of its processes, more so on a busy machine. */
const START_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 20_000;

type Run = { dag_run_id: string; state: string; start_date: string; end_date: string };

export type RealAirflow = Awaited<ReturnType<typeof startAirflow>>;

/** Returns the interpreter. */
export async function installAirflow(version: AirflowVersion = '3.2.2'): Promise<string> {
  const installer = spawn(process.execPath, [join(import.meta.dirname, 'install-airflow.ts'), version], {
    stdio: ['ignore', process.stderr, process.stderr],
  });
  const [status] = await once(installer, 'exit');
  if (status !== 0) throw new Error('Airflow could not be installed; see the lines above');
  return join(CACHE, `airflow-${version}`, 'bin', 'python');
}

type Options = { triggerer?: boolean; isAtDefaults?: boolean; version?: AirflowVersion };

/** `dags` by file name. With a triggerer where tasks defer; with as many tasks at once as it has by itself where it is measured. */
export async function startAirflow(dags: Record<string, string>, options: Options = {}) {
  const { triggerer = false, isAtDefaults = false, version = '3.2.2' } = options;
  const home = await mkdtemp(join(tmpdir(), 'svc-bench-airflow-'));
  const dagsFolder = join(home, 'dags');
  await mkdir(dagsFolder);
  for (const [name, text] of Object.entries(dags)) await writeFile(join(dagsFolder, name), text);
  const cluster = await startScratchCluster({ fsync: 'on' });
  const port = await freePort();
  const env = {
    ...environment({ home, dagsFolder, port, databaseUrl: await cluster.createDatabase() }),
    // 32 by default: with that many importing at once on two busy cores, a run ended failed.
    ...(!isAtDefaults && { AIRFLOW__CORE__PARALLELISM: '8' }),
  };
  const processes = new Map<string, ChildProcess>();

  const start = (name: string, args: readonly string[]): ChildProcess => {
    const output = openSync(join(home, `${name}.log`), 'a');
    // In a process group of its own, so that its workers can be ended with it.
    const child = spawn(airflowPython(version), ['-m', 'airflow', ...args], {
      env,
      stdio: ['ignore', output, output],
      detached: true,
      cwd: home,
    });
    processes.set(name, child);
    return child;
  };
  const logTail = (name: string): string =>
    readFileSync(join(home, `${name}.log`), 'utf8')
      .trim()
      .split('\n')
      .slice(-20)
      .join('\n');
  const failIfEnded = (): void => {
    for (const [name, { exitCode, signalCode }] of processes) {
      if (exitCode === null && signalCode === null) continue;
      throw new Error(`airflow ${name} ended with ${exitCode ?? signalCode}:\n${logTail(name)}`);
    }
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...processes.values()].map(endGroup));
    await cluster.remove();
    await rm(home, { recursive: true, force: true });
  };

  try {
    const [code] = await once(start('migrate', ['db', 'migrate']), 'exit');
    if (code !== 0) throw new Error(`airflow db migrate ended with ${code}:\n${logTail('migrate')}`);
    processes.delete('migrate');
    start('api-server', ['api-server', '--host', '127.0.0.1', '--port', String(port), '--workers', '1']);
    // Tasks report to the API server and fail when it is not there, so the scheduler comes after it.
    const api = await connect({ port, failIfEnded });
    start('dag-processor', ['dag-processor']);
    start('scheduler', ['scheduler', '--skip-serve-logs']);
    if (triggerer) start('triggerer', ['triggerer', '--skip-serve-logs']);
    return { api, ...runsOn(api, failIfEnded), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environment(input: {
  home: string;
  dagsFolder: string;
  port: number;
  databaseUrl: string;
}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: input.home,
    AIRFLOW_HOME: input.home,
    AIRFLOW__CORE__DAGS_FOLDER: input.dagsFolder,
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW__CORE__EXECUTOR: 'LocalExecutor',
    AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS: 'True',
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL: `http://127.0.0.1:${input.port}/execution/`,
    AIRFLOW__API__BASE_URL: `http://127.0.0.1:${input.port}`,
    AIRFLOW__API__SECRET_KEY: randomBytes(16).toString('hex'),
    AIRFLOW__API_AUTH__JWT_SECRET: randomBytes(32).toString('hex'),
    // As `airflow connections create-default-connections` makes it.
    AIRFLOW_CONN_FS_DEFAULT: '{"conn_type": "fs", "extra": {"path": "/"}}',
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN: input.databaseUrl.replace(/^postgres(ql)?:/, 'postgresql+psycopg2:'),
  };
}

type Api = <T>(method: string, path: string, body?: object) => Promise<T>;

/** When its API answers. */
async function connect({ port, failIfEnded }: { port: number; failIfEnded: () => void }): Promise<Api> {
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + START_TIMEOUT_MS;
  let token: string | undefined;
  while (token === undefined) {
    failIfEnded();
    if (Date.now() > deadline) throw new Error(`airflow api-server did not answer within ${START_TIMEOUT_MS} ms`);
    await sleep(500);
    // Everyone is an admin in this setting, so a token is had without a password.
    const answer = await fetch(`${url}/auth/token`).catch(() => undefined);
    if (answer?.ok) token = ((await answer.json()) as { access_token: string }).access_token;
  }
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`${url}/api/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`Airflow: ${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
}

function runsOn(api: Api, failIfEnded: () => void) {
  return {
    /** Waits until its file was read, which a process does when it is ready; then unpauses it. */
    async addDag(dagId: string): Promise<void> {
      for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(500)) {
        failIfEnded();
        const { dags } = await api<{ dags: { dag_id: string }[] }>('GET', `/dags?dag_id_pattern=${dagId}`);
        if (dags.some((dag) => dag.dag_id === dagId)) break;
        if (Date.now() > deadline) throw new Error(`Airflow has not read the file of ${dagId}`);
      }
      await api('PATCH', `/dags/${dagId}`, { is_paused: false });
    },
    async run(dagId: string): Promise<{ run: Run; instances: InstanceTimes[] }> {
      let run = await api<Run>('POST', `/dags/${dagId}/dagRuns`, { logical_date: null });
      const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(run.dag_run_id)}`;
      // Polled rarely: the poller shares the machine with what it watches.
      while (run.state !== 'success' && run.state !== 'failed') {
        failIfEnded();
        await sleep(500);
        // Under load its API answers 500 now and then; the run goes on all the same.
        run = await api<Run>('GET', path).catch(() => run);
      }
      if (run.state !== 'success') throw new Error(`the run of ${dagId} on Airflow ended ${run.state}`);
      const instances: InstanceTimes[] = [];
      for (;;) {
        const page = await api<{ task_instances: InstanceTimes[]; total_entries: number }>(
          'GET',
          `${path}/taskInstances?limit=100&offset=${instances.length}`,
        );
        instances.push(...page.task_instances);
        if (page.task_instances.length === 0 || instances.length >= page.total_entries) return { run, instances };
      }
    },
  };
}

async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
  signalGroup(pid, 'SIGTERM');
  await Promise.race([gone, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  // Whoever of the group is left.
  signalGroup(pid, 'SIGKILL');
  await gone;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}
