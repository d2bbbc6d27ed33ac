/**
 * A control plane with real Python processes, and a folder of projects that are compiled and registered there: for tests of code of
 * authors that decides about runs.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileWorkspace } from '@svc/compiler/compile-workspace.ts';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { PROCESS_ADMIN, startServerProcess } from './server-process.ts';

export type AuthorRun = {
  dag_run_id: string;
  run_type: string;
  state: string;
  logical_date: string | null;
  data_interval_start: string | null;
  data_interval_end: string | null;
  run_after: string;
  partition_key: string | null;
};

export type AuthorCodeServer = {
  url: string;
  token: string;
  /** Of the project of that name. */
  placeOf(project: string): string;
  compiler: Compiler;
  send(method: string, path: string, body?: object): Promise<Response>;
  request<T>(method: string, path: string, body?: object): Promise<T>;
  /** Below /api/v2. */
  api<T>(method: string, path: string, body?: object): Promise<T>;
  /** Compiles the file and registers what is in it; unpaused. */
  deploy(name: string, text: string): Promise<void>;
  runsOf(dagId: string): Promise<AuthorRun[]>;
  close(): Promise<void>;
};

const waitsForAssets = ({ schedule }: CompiledSpec): boolean => schedule.type.includes('asset');

export async function startAuthorCodeServer(): Promise<AuthorCodeServer> {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'svc-author-code-'));
  const python = await pythonEnvironment();
  const compiler = createCompiler({ python });
  const server = await startServerProcess({
    settings: { 'database.url': database.url, 'executor.type': 'subprocess', 'logs.dir': join(folder, 'logs'), python },
  });
  const placeOf = (project: string): string => join(folder, 'projects', project);
  let token = '';

  const send = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });

  async function request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await send(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  const api = <T>(method: string, path: string, body?: object): Promise<T> => request(method, `/api/v2${path}`, body);

  async function deploy(name: string, text: string): Promise<void> {
    const place = placeOf(name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `${name}.py`), text);
    const deployed: CompiledSpec[] = [];
    for (const result of await compileWorkspace({ workspace: place, compiler })) {
      if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('\n'));
      for (const { dagId, spec, warnings } of result.artifacts) {
        await api('POST', `/dags/${dagId}/dagVersions`, { spec, fileloc: join(place, spec.source.path), warnings });
        deployed.push(spec);
      }
    }
    // A DAG that waits for assets comes first: a schedule starts runs at once, whose events are lost to a paused DAG.
    for (const { dag } of deployed.toSorted((a, b) => Number(waitsForAssets(b)) - Number(waitsForAssets(a))))
      await api('PATCH', `/dags/${dag.dag_id}`, { is_paused: false });
  }

  await server.untilReady();
  const login = { username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password };
  token = (await request<{ access_token: string }>('POST', '/auth/token', login)).access_token;
  return {
    url: server.url,
    token,
    placeOf,
    compiler,
    send,
    request,
    api,
    deploy,
    runsOf: async (dagId) =>
      (await api<{ dag_runs: AuthorRun[] }>('GET', `/dags/${dagId}/dagRuns?order_by=run_after`)).dag_runs,
    close: async () => {
      await compiler.close();
      await server.stop();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
