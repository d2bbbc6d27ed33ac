/** A control plane that really runs tasks, and `svc` pointed at it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server/test-server.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { runSvc } from './run-in-process.ts';
import type { Outcome } from './run-in-process.ts';

export type LiveServer = Awaited<ReturnType<typeof startLiveServer>>;

/** `settings` are configuration keys, as on the command line. */
export async function startLiveServer(settings: Record<string, string> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-cli-runs-'));
  const python = await pythonEnvironment();
  process.env['SVC_PYTHON'] = python; // the agent is a child of this process and has its environment
  const logs = join(directory, 'logs');
  const server = await startTestServer({ 'executor.type': 'subprocess', 'logs.dir': logs, ...settings });
  const env: Record<string, string> = {
    XDG_CONFIG_HOME: directory,
    SVC_SERVER_URL: server.url,
    SVC_TOKEN: await server.login(),
    SVC_PYTHON: python,
    PATH: process.env['PATH'] ?? '',
    GIT_CEILING_DIRECTORIES: tmpdir(),
  };
  const svc = (...argv: string[]): Promise<Outcome> => runSvc(argv, { env });

  return {
    server,
    env,
    /** A file that is not there, for a task to wait for. */
    gate: (name: string): string => join(directory, name),
    svc,
    /** Of a command that must succeed. */
    async jsonOf<T>(...argv: string[]): Promise<T> {
      const { code, stdout, stderr } = await svc(...argv, '--json');
      if (code !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    /** Asks until the answer is as wanted. */
    async until<T>(look: () => Promise<T>, isWanted: (seen: T) => boolean): Promise<T> {
      const wanted = async (): Promise<{ seen: T }> => {
        const seen = await look();
        if (!isWanted(seen)) throw new Error(`not as wanted: ${JSON.stringify(seen)}`);
        return { seen };
      };
      return (await eventually(wanted, { everyMs: 100 })).seen;
    },
    /** Compiles the file, registers its DAG and, unless it shall stay paused, unpauses it. */
    async addDag(dagId: string, text: string, options: { isPaused?: boolean } = {}): Promise<void> {
      const path = join(directory, `${dagId}.py`);
      writeFileSync(path, text);
      for (const argv of [['deploy', path], ...(options.isPaused ? [] : [['dags', 'unpause', dagId]])]) {
        const { code, stderr } = await svc(...argv);
        if (code !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${code}: ${stderr}`);
      }
    },
    async close(): Promise<void> {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Two tasks in a row; the second does what the conf says, and is done when the file `gate` is there. */
export const twoSteps = (dagId: string, retries = 0): string => `
import os, time
from datetime import timedelta
from airflow.sdk import DAG, Param, task

with DAG("${dagId}", schedule=None, params={"fail": Param(False, type="boolean"), "gate": ""}):
    @task
    def extract():
        print("extracting")
        return 3

    @task(retries=${retries}, retry_delay=timedelta(seconds=1))
    def load(rows, params=None):
        print(f"loading {rows} rows", flush=True)
        while params["gate"] and not os.path.exists(params["gate"]):
            time.sleep(0.05)
        if params["fail"]:
            raise ValueError("the warehouse is closed")
        print("loaded")

    load(extract())
`;
