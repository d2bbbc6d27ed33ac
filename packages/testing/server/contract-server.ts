/** A control plane that has really run DAGs with one of everything, for the test that compares its answers with Airflow's. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { PROCESS_ADMIN, startServerProcess } from './server-process.ts';
import { createTestDatabase } from '../postgres/test-database.ts';

const DAGS = join(import.meta.dirname, 'contract-dags');
const RUN_MUST_END_WITHIN_MS = 240_000;

export type ContractAnswer = { status: number; text: string; json<T = Record<string, unknown>>(): T };
export type ContractServer = Awaited<ReturnType<typeof startContractServer>>;

export async function startContractServer() {
  const [database, python] = await Promise.all([createTestDatabase(), pythonEnvironment()]);
  const folder = mkdtempSync(join(tmpdir(), 'svc-contract-'));
  const server = await startServerProcess({
    settings: {
      'database.url': database.url,
      'executor.type': 'subprocess',
      'logs.dir': join(folder, 'logs'),
      'ui.workspace': DAGS,
      'ui.airflow_version': '3.2.2', // no document of Airflow 3.2 knows the state `awaiting_input`
      python,
    },
  });
  await server.untilReady();
  let token = '';

  async function call(
    method: string,
    path: string,
    body?: unknown,
    accept = 'application/json',
  ): Promise<ContractAnswer> {
    const response = await fetch(`${server.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        accept,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, json: <T>() => JSON.parse(text) as T };
  }

  async function must<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? ({} as T) : answer.json<T>();
  }

  const credentials = { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password };
  token = (await must<{ access_token: string }>('POST', '/auth/token', credentials)).access_token;
  await registerDags(python, must);

  return {
    call,
    must,
    /** Resolves when the run is over. */
    async ended(dagId: string, runId: string): Promise<void> {
      const path = `/api/v2/dags/${dagId}/dagRuns/${encodeURIComponent(runId)}`;
      const isOver = async (): Promise<void> => {
        const { state } = await must(`GET`, path);
        if (state !== 'success' && state !== 'failed') throw new Error(`${dagId} ${runId} is still ${String(state)}`);
      };
      await eventually(isOver, { everyMs: 200, withinMs: RUN_MUST_END_WITHIN_MS });
    },
    async close(): Promise<void> {
      await server.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function registerDags(python: string, must: (method: string, path: string, body?: unknown) => Promise<unknown>) {
  const compiler = createCompiler({ python });
  try {
    const path = join(DAGS, 'shop.py');
    const answer = await compiler.compile({ path, dagsFolder: DAGS });
    if (!answer.ok) throw new Error(answer.error.message);
    for (const { dag_id: dagId, spec } of answer.dags) {
      await must('POST', `/api/v2/dags/${dagId}/dagVersions`, { spec, fileloc: path });
      // The daily one stays paused: its backfill is to be looked at, not run.
      if (dagId !== 'shop_daily') await must('PATCH', `/api/v2/dags/${dagId}`, { is_paused: false });
    }
  } finally {
    await compiler.close();
  }
}
