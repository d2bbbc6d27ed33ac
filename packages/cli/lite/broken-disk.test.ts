/** Lite on a disk that fills up, and on one that is read-only: what people see, and that nothing they were promised is lost. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSmallDisk } from '@svc/testing/cli/small-disk.ts';
import type { SmallDisk } from '@svc/testing/cli/small-disk.ts';
import type { SpawnedSvc } from '@svc/testing/cli/spawn-svc.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { ADMIN } from '@svc/testing/web-ui/lite-instance.ts';

const TIMEOUT_MS = 400_000;
/** A new cluster takes some forty. */
const MEGABYTES = 150;
const MANY = 2_000;
const ANY_OTHER_PORTS = { SVC_SERVER_GRPC_ADDR: '127.0.0.1:0', SVC_SERVER_METRICS_ADDR: '127.0.0.1:0' };

const directory = mkdtempSync(join(tmpdir(), 'svc-broken-disk-'));
const data = join(directory, 'data');
let disk: SmallDisk;
let lite: SpawnedSvc;
let port: number;
let url: string;
let token: string;

const startLite = (): SpawnedSvc =>
  disk.start(
    [join(ROOT, 'bin', 'svc'), 'lite', join(directory, 'workspace'), '--port', String(port), '--data-dir', data],
    ANY_OTHER_PORTS,
  );

beforeAll(async () => {
  chmodSync(directory, 0o755);
  mkdirSync(data);
  cpSync(join(ROOT, 'examples', 'hello'), join(directory, 'workspace', 'hello'), { recursive: true });
  port = await freePort();
  url = `http://127.0.0.1:${port}`;
  disk = await openSmallDisk({ directory: data, megabytes: MEGABYTES });
  lite = startLite();
  await lite.until('Ctrl-C');
  const password = readFileSync(disk.seen('secrets/admin-password'), 'utf8').trim();
  token = (await call('POST', '/auth/token', { username: ADMIN, password })).body['access_token'] as string;
  // A busy machine may not have compiled it by the end of the start.
  await eventually(async () => (await call('PATCH', '/api/v2/dags/hello', { is_paused: false })).status === 200);
}, TIMEOUT_MS);

afterAll(async () => {
  lite?.kill('SIGTERM');
  await lite?.ended;
  await disk?.close();
  rmSync(directory, { recursive: true, force: true });
}, TIMEOUT_MS);

type Answer = { status: number; body: Record<string, unknown> };

async function call(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const trigger = (): Promise<Answer> => call('POST', '/api/v2/dags/hello/dagRuns', {});

/** Runs that were promised, until one is refused. */
async function triggerUntilRefused(): Promise<{ promised: string[]; refused: Answer }> {
  const promised: string[] = [];
  for (let count = 0; count < MANY; count += 1) {
    const answer = await trigger();
    if (answer.status !== 200) return { promised, refused: answer };
    promised.push(String(answer.body['dag_run_id']));
  }
  throw new Error(`the disk is full, and ${MANY} runs could be stored`);
}

async function expectSucceeded(runs: readonly string[]): Promise<void> {
  for (const run of runs) {
    const state = async (): Promise<unknown> =>
      (await call('GET', `/api/v2/dags/hello/dagRuns/${encodeURIComponent(run)}`)).body['state'];
    await expect.poll(state, { timeout: TIMEOUT_MS / 2, interval: 200 }).toBe('success');
  }
}

it(
  'a full disk is named in answers, reading goes on, and with room again every run that was accepted ends',
  async () => {
    disk.fill();
    const { promised, refused } = await triggerUntilRefused();
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({
      type: 'urn:svc:error:database_unavailable',
      detail: expect.stringContaining('full') as string,
    });
    expect((await call('GET', '/api/v2/dags/hello')).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    disk.makeRoom();
    await eventually(async () => (await trigger()).status === 200);
    await expectSucceeded(promised);
  },
  TIMEOUT_MS,
);

it(
  'a full or read-only disk refuses the start in one sentence that says what to do, and leaves what is there alone',
  async () => {
    lite.kill('SIGTERM');
    expect(await lite.ended).toBe(0);
    const refusal = async (): Promise<string> => {
      const refused = startLite();
      expect(await refused.ended).toBe(1);
      expect(refused.output()).not.toMatch(/^\s+at .*:\d+/m);
      return refused.output();
    };
    disk.fill();
    expect(await refusal()).toContain('full');
    disk.makeRoom();
    disk.setReadOnly();
    const told = await refusal();
    expect(told).toContain(data);
    expect(told).toContain('read-only');
  },
  TIMEOUT_MS,
);
