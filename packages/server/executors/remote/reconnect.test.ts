/** A worker of another host over TLS, behind one address of several control planes, which come and go. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCompiler } from '@svc/compiler/compiler.ts';
import { endsWithThisProcess } from '@svc/testing/ends-with-this-process.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { ROOT } from '@svc/testing/paths.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { PROCESS_ADMIN, startServerProcess } from '@svc/testing/server/server-process.ts';
import type { ServerProcess } from '@svc/testing/server/server-process.ts';
import { makeAuthority, makeCertificate } from '@svc/testing/tls/certificates.ts';
import type { CertificateFiles } from '@svc/testing/tls/certificates.ts';

const DAG = (folder: string): string => `
import time
from pathlib import Path
from airflow.sdk import DAG, get_current_context, task

HERE = Path(${JSON.stringify(folder)})

with DAG("flow", schedule=None):
    @task(queue="gpu")
    def train():
        run = get_current_context()["run_id"]
        with (HERE / "bodies").open("a") as file:
            file.write(run + "\\n")
        while not (HERE / f"gate-{run}").exists():
            time.sleep(0.02)
        return 7
    train()
`;

/** What stands before several control planes in production: an address that leads to one that is there. */
type Balancer = { readonly address: string; target: string; server: Server };

let folder: string;
let database: { url: string; drop(): Promise<void> };
let authority: CertificateFiles;
let certificate: CertificateFiles;
let balancer: Balancer;
const servers: ServerProcess[] = [];
const agents: ChildProcess[] = [];
let token = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-reconnect-'));
  database = await createTestDatabase();
  authority = makeAuthority(folder);
  certificate = makeCertificate(folder, authority, { name: 'control-plane' });
  balancer = await startBalancer();
  await startServer();
  await addDag();
}, 400_000);
afterAll(async () => {
  for (const agent of agents) agent.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  balancer?.server.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The balancer leads there from now on. */
async function startServer(): Promise<ServerProcess> {
  const server = await startServerProcess({
    settings: {
      'database.url': database.url,
      'logs.dir': join(folder, 'logs'),
      'executor.type': 'subprocess,remote',
      'server.grpc_tls.cert': certificate.cert,
      'server.grpc_tls.key': certificate.key,
      python: await pythonEnvironment(),
    },
    flags: ['--executor.remote-queues', 'gpu'],
  });
  servers.push(server);
  await server.untilReady();
  balancer.target = await agentAddress(server);
  return server;
}

/** What it has said may arrive after what it answers. */
const agentAddress = (server: ServerProcess): Promise<string> =>
  eventually(() => {
    const line = server.logLines().find((text) => text.includes('agents may connect'));
    if (line === undefined) throw new Error('it has not said where agents may connect');
    return (JSON.parse(line) as { address: string }).address;
  });

async function startBalancer(): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const [host, port] = made.target.split(':');
    const upstream = connect(Number(port), host);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => {}).on('close', () => to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made = { address: `localhost:${(server.address() as AddressInfo).port}`, target: '', server };
  server.once('close', () => sockets.forEach((socket) => socket.destroy()));
  return made;
}

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const url = servers.findLast((server) => server.exited() === null)?.url;
  token ||= await logIn(url ?? '');
  const response = await fetch(`${url}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

async function logIn(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: PROCESS_ADMIN.email, password: PROCESS_ADMIN.password }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function addDag(): Promise<void> {
  const path = join(folder, 'flow.py');
  writeFileSync(path, DAG(folder));
  const compiler = createCompiler({ python: await pythonEnvironment() });
  const answer = await compiler.compile({ path, dagsFolder: folder }).finally(() => compiler.close());
  if (!answer.ok) throw new Error(answer.error.message);
  await call('POST', '/dags/flow/dagVersions', { spec: answer.dags[0]?.spec, fileloc: path });
  await call('PATCH', '/dags/flow', { is_paused: false });
}

async function startAgent(
  name: string,
  ca: string,
  where = [balancer.address],
): Promise<{ said(): string; process: ChildProcess }> {
  const made = await call<{ token: string }>('POST', '/workerTokens', { queues: ['gpu'] });
  const file = join(folder, `token-${name}`);
  writeFileSync(file, made.token);
  const servers = where.flatMap((address) => ['--server', address]);
  const args = ['work', ...servers, '--token-file', file, '--ca-file', ca, '--name', name];
  const child = spawn(join(ROOT, 'bin', 'svc-agent'), args, {
    env: { PATH: process.env['PATH'], HOME: folder, SVC_PYTHON: await pythonEnvironment() },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
  agents.push(child);
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { said: () => text, process: child };
}

const trigger = async (): Promise<string> =>
  (await call<{ dag_run_id: string }>('POST', '/dags/flow/dagRuns', {})).dag_run_id;
const instance = (run: string) =>
  call<{ state: string | null; try_number: number; hostname: string }>(
    'GET',
    `/dags/flow/dagRuns/${encodeURIComponent(run)}/taskInstances/train`,
  );
const stateOfWorker = async (name: string) =>
  (await call<{ workers: { state: string }[] }>('GET', `/workers?kind=remote&name=${name}`)).workers[0]?.state;
function bodies(run: string): number {
  try {
    return readFileSync(join(folder, 'bodies'), 'utf8')
      .split('\n')
      .filter((line) => line === run).length;
  } catch {
    return 0;
  }
}
const patient = { withinMs: 120_000 };

it('a worker that does not trust the certificate says so, and joins nobody', async () => {
  const stranger = makeAuthority(folder, 'somebody-else');
  const agent = await startAgent('stranger', stranger.cert);
  await eventually(() => agent.said().includes('does not answer yet'), patient);
  await eventually(() => expect(agent.said()).toMatch(/certificate/), patient);
  expect(await stateOfWorker('stranger')).toBeUndefined();
  agents.at(-1)?.kill('SIGKILL');
}, 400_000);

it('what it runs goes on when its control plane is killed, is reported to the other, and is done once', async () => {
  const agent = await startAgent('gpu-1', authority.cert);
  await eventually(() => agent.said().includes('joined'), patient);
  const run = await trigger();
  await eventually(() => bodies(run) === 1, patient);
  const [first] = servers;
  await startServer();
  await first?.stop('SIGKILL');
  await eventually(async () => (await stateOfWorker('gpu-1')) === 'busy', patient);
  expect((await instance(run)).state).toBe('running');
  writeFileSync(join(folder, `gate-${run}`), '');
  await eventually(async () => (await instance(run)).state === 'success', patient);
  expect(await instance(run)).toMatchObject({ try_number: 1, hostname: 'gpu-1' });
  expect(bodies(run)).toBe(1);
  const moved = /lost localhost:\d+ \(.+\): what runs here continues \(1 attempts\).*\n.*rejoined localhost/;
  await eventually(() => expect(agent.said()).toMatch(moved), patient);
}, 400_000);

it('an idle one waits while there is no control plane at all, and works for the next', async () => {
  await servers.at(-1)?.stop('SIGTERM');
  await startServer();
  await eventually(async () => (await stateOfWorker('gpu-1')) === 'idle', patient);
  const run = await trigger();
  writeFileSync(join(folder, `gate-${run}`), '');
  await eventually(async () => (await instance(run)).state === 'success', patient);
  expect(await instance(run)).toMatchObject({ try_number: 1, hostname: 'gpu-1' });
  expect(bodies(run)).toBe(1);
}, 400_000);

it('a worker that is given several servers moves to a live one with what it runs, and says so', async () => {
  agents.splice(0).forEach((agent) => agent.kill('SIGKILL'));
  const doomed = await startServer();
  const [first, second] = [await agentAddress(doomed), await agentAddress(servers.at(-2) ?? doomed)];
  const agent = await startAgent('gpu-2', authority.cert, [first, second]);
  await eventually(() => agent.said().includes(`joined ${first}`), patient);
  await eventually(async () => (await stateOfWorker('gpu-2')) === 'idle', patient);
  const run = await trigger();
  await eventually(() => bodies(run) === 1, patient);
  await doomed.stop('SIGKILL');
  await eventually(() => agent.said().includes(`moved to ${second}`), patient);
  expect(agent.said()).toContain(`lost ${first}`);
  writeFileSync(join(folder, `gate-${run}`), '');
  await eventually(async () => (await instance(run)).state === 'success', patient);
  expect(await instance(run)).toMatchObject({ try_number: 1, hostname: 'gpu-2' });
  expect(bodies(run)).toBe(1);
  expect(agent.said()).not.toContain('DEP0123');
}, 400_000);
