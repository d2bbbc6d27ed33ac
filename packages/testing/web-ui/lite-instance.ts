/**
 * A real lite instance for browser tests: own workspace, own data, a free port, and its API for what a test needs beside
 * the browser. Without vitest, because the pictures of the documentation are taken of one, too.
 */
import { equal } from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { discover } from '@svc/compiler/discover.ts';
import { eventually } from '../eventually.ts';
import { spawnSvc } from '../cli/spawn-svc.ts';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { ROOT } from '../paths.ts';
import { apiCaller, tokenOf } from '../server/api-caller.ts';
import type { Api } from '../server/api-caller.ts';
import { placePreparedCluster } from '../postgres/prepared-cluster.ts';
import { freePort } from '../services/free-port.ts';

export const ADMIN = 'admin@localhost';
/** A run of an example takes a second; of a machine that does ten things at once nothing is known. */
const RUN_ENDS_WITHIN_MS = 200_000;

/** Several instances start at once here; between looking for a free port and taking it another one may come. */
const ANY_OTHER_PORTS = { SVC_SERVER_GRPC_ADDR: '127.0.0.1:0', SVC_SERVER_METRICS_ADDR: '127.0.0.1:0' };

export type LiteInstance = Awaited<ReturnType<typeof startLite>>;

/**
 * `examples` are names of example projects, `dags` files of the workspace by their path, `env` is for the process. A private
 * workspace is one that only its owner may enter.
 */
export async function startLite(contents: {
  examples: readonly string[];
  dags?: Record<string, string>;
  env?: Record<string, string>;
  isPrivate?: boolean;
}) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-web-ui-'));
  // Postgres and tasks may run as another user than the one of this test.
  chmodSync(directory, 0o755);
  const workspace = join(directory, 'workspace');
  for (const name of contents.examples) {
    cpSync(join(ROOT, 'examples', name), join(workspace, name), { recursive: true });
  }
  const writeDag = (path: string, text: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  for (const [path, text] of Object.entries(contents.dags ?? {})) writeDag(path, text);
  if (contents.isPrivate) chmodSync(workspace, 0o700);

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(directory, 'data');
  await placePreparedCluster(join(data, 'postgres'));
  const lite = spawnSvc(['lite', workspace, '--port', String(port), '--data-dir', data], {
    ...ANY_OTHER_PORTS,
    ...contents.env,
  });
  const cleanedUp = endsWithThisProcess({ directory, pids: [lite.pid] });
  await lite.until('Ctrl-C');
  const password = readFileSync(join(data, 'secrets', 'admin-password'), 'utf8').trim();

  const login = (username = ADMIN, options: { password?: string; tenant?: string } = {}): Promise<string> =>
    tokenOf(url, { username, password, ...options });
  const apiAs = (token: string): Api => apiCaller({ url }, token);
  const api = apiAs(await login());
  await allCompiled(api, workspace);

  return {
    url,
    pid: lite.pid,
    directory,
    workspace,
    data,
    /** What it has said so far. */
    output: lite.output,
    password,
    writeDag,
    login,
    apiAs,
    api,
    async stop(): Promise<void> {
      lite.kill('SIGTERM');
      await lite.ended;
      // Something of it may still be leaving, and write its last words there.
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
      cleanedUp();
    },
  };
}

/** The start of lite waits some seconds for that, which a busy machine may not have; what is left goes on beside. */
async function allCompiled(api: Api, workspace: string): Promise<void> {
  const { length } = await discover(workspace);
  const look = async (): Promise<boolean> => {
    const { units } = await api<{ units: { dag_ids: string[] }[] }>('GET', '/ide/workspace');
    const { total_entries: registered } = await api<{ total_entries: number }>('GET', '/dags?limit=1');
    return units.length >= length && registered >= units.flatMap(({ dag_ids: ids }) => ids).length;
  };
  await eventually(look, { everyMs: EVENTUALLY.interval, withinMs: EVENTUALLY.timeout });
}

/** Also for `expect.poll`: asks seldom enough not to be a load itself. */
export const EVENTUALLY = { timeout: RUN_ENDS_WITHIN_MS, interval: 500 };

/** Triggers a run and waits for its end; gives its id. */
export async function runToEnd(api: Api, dagId: string, conf: object = {}): Promise<string> {
  // What needs packages is compiled after lite has started.
  const unpause = (): Promise<unknown> =>
    api('PATCH', `/dags/${dagId}`, { is_paused: false }).catch(async (error: Error) => {
      const { import_errors: errors } = await api<{ import_errors: object[] }>('GET', '/importErrors');
      throw new Error(`${error.message}; import errors: ${JSON.stringify(errors)}`, { cause: error });
    });
  await eventually(unpause, { everyMs: EVENTUALLY.interval, withinMs: EVENTUALLY.timeout });
  const { dag_run_id: runId } = await api<{ dag_run_id: string }>('POST', `/dags/${dagId}/dagRuns`, { conf });
  await runEnds(api, dagId, runId);
  return runId;
}

export async function runEnds(api: Api, dagId: string, runId: string, state = 'success'): Promise<void> {
  const path = `/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
  const look = async (): Promise<void> =>
    equal((await api<{ state: string }>('GET', path)).state, state, `state of ${runId}`);
  await eventually(look, { everyMs: EVENTUALLY.interval, withinMs: EVENTUALLY.timeout });
}
