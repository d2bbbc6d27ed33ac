/** `svc workers` as people type it. What workers do is tested with real ones: server/executors/remote. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordWorker } from '@svc/server/db/workers/workers.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

let server: TestServer;
let directory: string;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startTestServer();
  directory = mkdtempSync(join(tmpdir(), 'svc-workers-'));
  env = { XDG_CONFIG_HOME: directory, SVC_SERVER_URL: server.url, SVC_TOKEN: await server.login() };
});
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

const workers = (...argv: string[]) => runSvc(['workers', ...argv, '--server', server.url], { env });

async function addWorker(name: string, state: 'busy' | 'gone' = 'busy'): Promise<string> {
  const tenants = server.db.shared.selectFrom('tenants').select('id').where('name', '=', 'default');
  const { id: tenantId } = await tenants.executeTakeFirstOrThrow();
  const id = crypto.randomUUID();
  const about = { kind: 'remote', pool: 'gpu', queues: ['gpu'], hostname: 'rack', agentVersion: '0.6.0' } as const;
  await recordWorker(server.db, { id, tenantId, name, ...about, state, slots: 2, owner: 'p1' });
  return id;
}

it('lists workers, shows one by its name, and drains it', async () => {
  const id = await addWorker('gpu-1');
  await addWorker('gpu-2', 'gone');
  expect((await workers('list')).stdout).toMatch(/gpu-1 +remote +gpu +busy +0 of 2 +0 +rack +0\.6\.0/);
  const { stdout } = await workers('list', '--state', 'gone', '--queue', 'gpu', '--kind', 'remote', '--json');
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(['gpu-2']);
  expect((await workers('drain', 'gpu-1', '--why', 'new driver')).stdout).toContain('gpu-1 takes no more tasks');
  const shown = await workers('show', id);
  expect(shown.stdout).toMatch(/Drain asked for +.* by admin@example\.com: new driver/);
  expect((await workers('drain', 'gpu-2')).stderr).toContain('has left already');
  expect((await workers('show', 'nobody')).stderr).toContain('svc workers list');
  await addWorker('gpu-1');
  expect((await workers('drain', 'gpu-1')).stderr).toContain('name one by its id');
});

it('makes a token that is alone on standard output, lists it and revokes it by how it begins', async () => {
  const made = await workers('create-token', '--queue', 'gpu, big', '--expires', '12h', '--comment', 'rack 4');
  expect(made.stdout).toMatch(/^svc_wt_[0-9A-Za-z]{46}\n$/);
  expect(made.stderr).toContain('svc-agent work --server');
  const start = made.stdout.slice(0, 11);
  expect((await workers('tokens')).stdout).toMatch(new RegExp(`${start}… +gpu, big .* never .*rack 4`));
  expect((await workers('revoke-token', start)).stdout).toContain('Revoked');
  expect((await workers('revoke-token', start)).stderr).toContain('svc workers tokens');
  expect((await workers('create-token', '--queue', ',')).code).toBe(2);
  expect((await workers('create-token', '--queue', 'gpu', '--expires', 'soon')).stderr).toContain('is no duration');
});
