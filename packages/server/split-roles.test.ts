/** An api process and a scheduler as users run them, each with its own identity: what one serves, the other does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createIdentities } from '@svc/testing/postgres/database-identities.ts';
import type { DatabaseIdentities } from '@svc/testing/postgres/database-identities.ts';
import { postgresUrl } from '@svc/testing/postgres/postgres-url.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';

const DAG = (gate: string): string => `
import os, time
from airflow.sdk import DAG, task

with DAG("steps", schedule=None):
    @task
    def wait():
        print("it has begun", flush=True)
        while not os.path.exists(${JSON.stringify(gate)}):
            time.sleep(0.05)
        print("it has ended")
    wait()
`;

let folder: string;
let database: { url: string; drop(): Promise<void> };
let identities: DatabaseIdentities;
let scheduler: ServerProcess;
let api: ServerProcess;
let token: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-split-'));
  database = await createTestDatabase();
  identities = await createIdentities(database.url);
  // The api comes first, and has to wait: for the tenant, and for the marker of the logs.
  api = await startServerProcess({ settings: apiSettings('logs') });
  await eventually(async () => (await (await fetch(`${api.url}/readyz`)).text()).includes('start a scheduler'));
  scheduler = await startServerProcess({
    settings: {
      ...pro('logs'),
      'server.role': 'scheduler',
      'database.url': identities.scheduler,
      'executor.type': 'subprocess',
      'executor.parallelism': '1',
      python: await pythonEnvironment(),
    },
  });
  await Promise.all([api.untilReady(), scheduler.untilReady()]);
  const login = await fetch(`${api.url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  });
  token = ((await login.json()) as { access_token: string }).access_token;
  await addDag();
}, 400_000);
afterAll(async () => {
  await Promise.all([api, scheduler].map((server) => server?.stop('SIGKILL')));
  await identities?.drop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const pro = (logs: string) => ({ 'ui.edition': 'pro', 'logs.dir': join(folder, logs) });
const apiSettings = (logs: string) => ({
  ...pro(logs),
  'server.role': 'api',
  'database.url': identities.api,
  'executor.type': 'orchestrator', // it is the scheduler's that counts
});

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${api.url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

async function addDag(): Promise<void> {
  const path = join(folder, 'steps.py');
  writeFileSync(path, DAG(join(folder, 'gate')));
  const compiler = createCompiler({ python: await pythonEnvironment() });
  const answer = await compiler.compile({ path, dagsFolder: folder }).finally(() => compiler.close());
  if (!answer.ok) throw new Error(answer.error.message);
  await call('POST', '/dags/steps/dagVersions', { spec: answer.dags[0]?.spec, fileloc: path });
  await call('PATCH', '/dags/steps', { is_paused: false });
}

const trigger = async (): Promise<string> =>
  (await call<{ dag_run_id: string }>('POST', '/dags/steps/dagRuns', {})).dag_run_id;
const instanceOf = (runId: string): string => `/dags/steps/dagRuns/${encodeURIComponent(runId)}/taskInstances/wait`;
const stateOf = async (runId: string) => (await call<{ state: string | null }>('GET', instanceOf(runId))).state;

/** The first words of its log, from somebody who follows it. */
async function firstWords(runId: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/plain' };
  const response = await fetch(`${api.url}/api/v2${instanceOf(runId)}/logs/1?follow=true`, { headers });
  let seen = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes('it has begun')) break;
  }
  return seen;
}

describe('a scheduler and an api', () => {
  it('serve each its own: no API beside the scheduler, no agents beside the api', async () => {
    expect((await fetch(`${scheduler.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${scheduler.url}/api/v2/version`)).status).toBe(404);
    expect((await fetch(`${scheduler.url}/`)).status).toBe(404);
    expect(api.logLines().join('\n')).not.toContain('agents may connect');
    // What a process has logged may be read after what it has answered.
    await eventually(() => expect(scheduler.logLines().join('\n')).toContain('agents may connect'));
  });

  it('tell of the scheduler through the api: its health, and with what it runs tasks', async () => {
    type Health = { scheduler: { status: string } };
    await eventually(async () => (await call<Health>('GET', '/monitor/health')).scheduler.status === 'healthy');
    expect(await call('GET', '/monitor/executor')).toMatchObject({ execution_modes: ['subprocess'], pod_dispatch_enabled: false }); // prettier-ignore
  });

  it('run what is triggered, show its log while it runs, and stop it when it is marked: the one slot is free again', async () => {
    const stopped = await trigger();
    await eventually(async () => (await stateOf(stopped)) === 'running');
    expect(await firstWords(stopped)).toContain('it has begun');
    await call('PATCH', instanceOf(stopped), { new_state: 'failed' });
    const next = await trigger(); // needs the slot of the first, whose gate never opens
    await eventually(async () => (await stateOf(next)) === 'running');
    writeFileSync(join(folder, 'gate'), '');
    await eventually(async () => (await stateOf(next)) === 'success');
    expect(await stateOf(stopped)).toBe('failed');
  });

  it('refuse to share what they do not: an api with another directory of logs ends with 2 and says what to do', async () => {
    const elsewhere = await startServerProcess({ settings: apiSettings('other-logs') });
    await expect(elsewhere.untilReady()).rejects.toThrow(/svc server ended with 2/);
    expect(elsewhere.exited()).toBe(2);
    expect(elsewhere.logLines().join('\n')).toMatch(/share theirs .*SVC_LOGS_BACKEND=objstore/);
  });

  it('refuse a second scheduler with another directory of logs, whose logs nobody would see', async () => {
    const settings = { ...pro('other-logs'), 'server.role': 'scheduler', 'database.url': identities.scheduler };
    const elsewhere = await startServerProcess({ settings });
    await expect(elsewhere.untilReady()).rejects.toThrow(/svc server ended with 2/);
    expect(elsewhere.exited()).toBe(2);
    expect(elsewhere.logLines().join('\n')).toMatch(/stop all schedulers first/);
  });
});

it('an api never migrates: on an empty database it waits, and says who does', async () => {
  const name = `empty_${Date.now()}`;
  await queryDatabase(postgresUrl(), `create database ${name}`);
  const url = new URL(postgresUrl());
  url.pathname = `/${name}`;
  const waiting = await startServerProcess({ settings: { ...apiSettings('logs'), 'database.url': url.toString() } });
  await eventually(async () => (await (await fetch(`${waiting.url}/readyz`)).text()).includes('svc db migrate'));
  expect(await queryDatabase(url.toString(), `select * from pg_tables where schemaname = 'public'`)).toEqual([]);
  await waiting.stop('SIGKILL');
  await queryDatabase(postgresUrl(), `drop database ${name} with (force)`);
});
