/** A tenant made a moment ago is worked in like any other: log in, deploy, run, read the log. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startLiveServer, twoSteps } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { writeFileSync } from 'node:fs';
import { TEST_PASSWORD } from '@svc/testing/server/test-server.ts';

let live: LiveServer;
beforeAll(async () => {
  live = await startLiveServer();
});
afterAll(() => live?.close());

it('a new tenant runs a DAG from login to log, by a person and by a program, and nobody else sees it', async () => {
  const { server } = live;
  const home = live.env['XDG_CONFIG_HOME'] ?? '';
  const host = { XDG_CONFIG_HOME: home, SVC_DATABASE_URL: server.config.database.url };
  const create = ['tenants', 'create', 'acme', '--admin', 'ana@acme.example', '--password-stdin'];
  expect((await runSvc(create, { env: host, input: TEST_PASSWORD })).code).toBe(0);

  const { SVC_TOKEN: ofDefault = '', ...env } = { ...live.env };
  const ana = (...argv: string[]) => runSvc(argv, { env });
  const login = ['auth', 'login', '--tenant', 'acme', '--username', 'ana@acme.example', '--password-stdin'];
  expect((await runSvc(login, { env, input: TEST_PASSWORD })).code).toBe(0);
  const path = join(home, 'etl.py');
  writeFileSync(path, twoSteps('etl'));
  expect(await ana('deploy', path)).toMatchObject({ code: 0 });
  expect(await ana('dags', 'unpause', 'etl')).toMatchObject({ code: 0 });
  expect(await ana('runs', 'trigger', 'etl', '--run-id', 'first', '--wait')).toMatchObject({ code: 0 });
  expect((await ana('runs', 'logs', 'etl', 'first', '--task', 'load')).stdout).toContain('loading 3 rows');

  const issued = await ana('service-accounts', 'create', 'runner', '--role', 'operator');
  const program = (...argv: string[]) => runSvc(argv, { env: { ...env, SVC_TOKEN: issued.stdout.trim() } });
  expect(await program('runs', 'trigger', 'etl', '--run-id', 'second', '--wait')).toMatchObject({ code: 0 });
  expect((await program('runs', 'logs', 'etl', 'second', '--task', 'extract')).stdout).toContain('extracting');
  expect((await program('users', 'list')).code).toBe(3);

  for (const below of [
    '',
    '/dagRuns/first',
    '/dagRuns/first/taskInstances',
    '/dagRuns/first/taskInstances/load/logs/1',
  ])
    expect((await server.call(`/api/v2/dags/etl${below}`, { token: ofDefault })).status).toBe(404);
});
