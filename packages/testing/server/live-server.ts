/** A control plane with its agent as users run them, and DAG files given to it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { apiCaller, tokenOf } from './api-caller.ts';
import { startScratchCluster } from '../postgres/scratch-cluster.ts';
import { PROCESS_ADMIN, startServerProcess } from './server-process.ts';
import { pythonEnvironment } from '../python-environment.ts';

export type LiveServer = Awaited<ReturnType<typeof startLiveServer>>;

export type InstanceTimes = {
  task_id: string;
  map_index: number;
  state: string | null;
  start_date: string | null;
  end_date: string | null;
};

/** On a cluster of its own, unless the settings have a database. `env`: variables that tasks find, too; `cwd`: where they are. */
export async function startLiveServer(
  settings: Record<string, string> = {},
  nodeArgs: readonly string[] = [],
  env: Record<string, string> = {},
  cwd?: string,
) {
  const directory = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const dags = join(directory, 'dags');
  await mkdir(dags);
  const python = settings['python'] ?? (await pythonEnvironment());
  const cluster = settings['database.url'] === undefined ? await startScratchCluster({ fsync: 'on' }) : undefined;
  const url = settings['database.url'] ?? (await cluster?.createMigratedDatabase()) ?? '';
  const start = async () => {
    const process = await startServerProcess({
      settings: {
        'database.url': url,
        'executor.type': 'subprocess',
        'logs.dir': join(directory, 'logs'),
        python,
        ...settings,
      },
      nodeArgs,
      env,
      ...(cwd !== undefined && { cwd }),
      logFile: join(directory, `server-${(starts += 1)}.log`),
    });
    await process.untilReady();
    return process;
  };
  let starts = 0;
  let server = await start();
  const compiler = createCompiler({ python });

  const token = await tokenOf(server.url, { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password });
  const api = apiCaller(
    {
      get url() {
        return server.url;
      },
    },
    token,
  );

  return {
    get url() {
      return server.url;
    },
    get pid() {
      return server.pid;
    },
    /** Ends it by the signal, and starts it again on the same database after a while. */
    async restart({
      signal = 'SIGKILL',
      awayMs = 0,
    }: { signal?: NodeJS.Signals; awayMs?: number } = {}): Promise<void> {
      await server.stop(signal);
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      server = await start();
    },
    /** After a stop, on the same database. */
    async startAgain(): Promise<void> {
      server = await start();
    },
    databaseUrl: url,
    token,
    api,
    logLines: () => server.logLines(),
    exited: () => server.exited(),
    stop: (signal?: NodeJS.Signals) => server.stop(signal),
    /**
     * Compiles the file, registers its DAG and unpauses it. `project`: what a svc.yaml beside it would have said; `image`: what
     * a deployment would have built for it.
     */
    /** Answers with what the file was compiled to, by DAG. */
    async addDag(dagId: string, text: string, project?: object, image?: string): Promise<Record<string, object>> {
      const specs: Record<string, object> = {};
      const path = join(dags, `${dagId}.py`);
      await writeFile(path, text);
      const answer = await compiler.compile({ path, dagsFolder: dags });
      if (!answer.ok) throw new Error(answer.error.message);
      for (const dag of answer.dags) {
        const spec = { ...(dag.spec as object), ...(project && { project }) };
        specs[dag.dag_id] = spec;
        await api('POST', `/dags/${dag.dag_id}/dagVersions`, { spec, fileloc: path, ...(image && { image }) });
        await api('PATCH', `/dags/${dag.dag_id}`, { is_paused: false });
      }
      return specs;
    },
    trigger: (dagId: string, body: object = {}) =>
      api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, body).then((run) => run.dag_run_id),
    /** Polls rarely: the poller shares the machine with what it watches. */
    async ended(
      dagId: string,
      runId: string,
      everyMs = 50,
    ): Promise<{ state: string; start_date: string; end_date: string }> {
      for (;;) {
        const run = await api<{ state: string; start_date: string; end_date: string }>(
          'GET',
          `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`,
        );
        if (run.state === 'success' || run.state === 'failed') return run;
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    },
    async instances(dagId: string, runId: string): Promise<InstanceTimes[]> {
      const all: InstanceTimes[] = [];
      for (;;) {
        const page = await api<{ task_instances: InstanceTimes[]; total_entries: number }>(
          'GET',
          `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}/taskInstances?limit=1000&offset=${all.length}`,
        );
        all.push(...page.task_instances);
        if (all.length >= page.total_entries || page.task_instances.length === 0) return all;
      }
    },
    async close(): Promise<void> {
      await compiler.close();
      await server.stop();
      await cluster?.remove();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
