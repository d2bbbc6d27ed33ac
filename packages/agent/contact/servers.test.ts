import dns from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Agent } from '@svc/proto/agent-service.ts';
import type { AgentHandlers } from '@svc/proto/agent-service.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { makeAuthority, makeCertificate } from '@svc/testing/tls/certificates.ts';
import { connectControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) close();
});

/** Answers heartbeats with the lease by which it is known, or refuses to serve. */
async function startServer(lease: number, { host = '127.0.0.1', port = 0, serves = true } = {}) {
  const server = new Server();
  const handlers: Pick<AgentHandlers, 'Heartbeat'> = {
    Heartbeat: (_call, reply) =>
      serves ? reply(null, { lease_ms: lease }) : reply({ code: status.UNAVAILABLE, details: 'no database' }),
  };
  server.addService(Agent.service, handlers as AgentHandlers);
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error ? reject(error) : resolve(at),
    );
  });
  closing.push(() => server.forceShutdown());
  return { address: `${host}:${bound}`, port: bound, kill: () => server.forceShutdown() };
}

function connect(...servers: string[]): ControlPlane {
  const controlPlane = connectControlPlane({ servers, tlsCa: '', mayMove: true });
  closing.push(() => controlPlane.close());
  return controlPlane;
}

async function whoAnswers(controlPlane: ControlPlane): Promise<number> {
  const reply = await controlPlane.callUntilAnswered('Heartbeat', { tokens: [], pids: [] }, { token: () => '' });
  return reply.lease_ms;
}

describe('an agent with several servers', () => {
  it('stays with the first that answers, and moves to the next one when that is killed', async () => {
    const [one, two] = [await startServer(1), await startServer(2)];
    const controlPlane = connect(one.address, two.address);
    expect(await whoAnswers(controlPlane)).toBe(1);
    expect(await whoAnswers(controlPlane)).toBe(1);
    one.kill();
    expect(await whoAnswers(controlPlane)).toBe(2);
    expect(controlPlane.server()).toBe(two.address);
    const again = await startServer(3, { port: one.port });
    two.kill();
    expect(await whoAnswers(controlPlane)).toBe(3);
    expect(controlPlane.server()).toBe(again.address);
  });

  it('passes over servers that refuse connections, and finds the one that comes up later', async () => {
    const [gone, late] = [await freePort(), await freePort()];
    const controlPlane = connect(`127.0.0.1:${gone}`, `127.0.0.1:${late}`);
    const answer = whoAnswers(controlPlane);
    await startServer(4, { port: late });
    expect(await answer).toBe(4);
  });

  it('passes over a server that takes the connection and says nothing', async () => {
    const hanging = createServer(() => {}).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    closing.push(() => hanging.close());
    const { port } = hanging.address() as AddressInfo;
    const two = await startServer(2);
    expect(await whoAnswers(connect(`127.0.0.1:${port}`, two.address))).toBe(2);
  });
});

it('an agent whose server has a name with several addresses moves to another of them', async () => {
  const port = await freePort();
  const one = await startServer(1, { host: '127.0.0.2', port });
  await startServer(2, { host: '127.0.0.3', port });
  const lookup = dns.promises.lookup as unknown as (name: string) => Promise<unknown>;
  vi.spyOn(dns.promises, 'lookup').mockImplementation((async (name: string) =>
    name === 'schedulers.example.com'
      ? ['127.0.0.2', '127.0.0.3'].map((address) => ({ address, family: 4 }))
      : lookup(name)) as unknown as typeof dns.promises.lookup);
  const controlPlane = connect(`schedulers.example.com:${port}`);
  expect(await whoAnswers(controlPlane)).toBe(1);
  one.kill();
  expect(await whoAnswers(controlPlane)).toBe(2);
});

it('TLS to an IP address names no server, and the certificate must be for that address', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-servers-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const authority = makeAuthority(folder);
  const pair = makeCertificate(folder, authority, { name: 'control-plane' });
  const names: unknown[] = [];
  const options = { cert: readFileSync(pair.cert), key: readFileSync(pair.key), ALPNProtocols: ['h2'] };
  const listening = createTlsServer(options, (socket) => {
    names.push(socket.servername);
    socket.destroy();
  }).listen(0, '0.0.0.0');
  await once(listening, 'listening');
  closing.push(() => listening.close());
  const { port } = listening.address() as AddressInfo;

  async function problemAt(host: string): Promise<string> {
    const controlPlane = connectControlPlane({ servers: [`${host}:${port}`], tlsCa: authority.cert });
    closing.push(() => controlPlane.close());
    const call = controlPlane.callOnce('Heartbeat', { tokens: [], pids: [] }, { token: () => '' });
    return call.then(
      () => 'answered',
      (error: Error) => error.message,
    );
  }
  await problemAt('127.0.0.1');
  expect(names[0]).toBe(false);
  expect(await problemAt('127.0.0.9')).toContain("IP: 127.0.0.9 is not in the cert's list");
  await problemAt('localhost');
  // The first two clients connect again from time to time, so the newest name may be one of theirs.
  expect([...new Set(names)]).toEqual([false, 'localhost']);
});
