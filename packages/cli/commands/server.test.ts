import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnSvc } from '@svc/testing/cli/spawn-svc.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  env = {
    SVC_DATABASE_URL: database.url,
    SVC_AUTH_JWT_SECRET: 'server-test-secret-server-test-secret',
    SVC_SECRET_KEY: 'a'.repeat(64),
    SVC_SERVER_HTTP_ADDR: '127.0.0.1:0',
    SVC_SERVER_METRICS_ADDR: '127.0.0.1:0',
    SVC_SERVER_GRPC_ADDR: '127.0.0.1:0',
    SVC_OBSERVABILITY_OTEL_ENABLED: 'false',
    SVC_EXECUTOR_TYPE: 'subprocess', // there is no cluster
  };
});

afterAll(() => database.drop());

async function occupiedPort(): Promise<{ port: number; close: () => void }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describe('svc server', () => {
  it('serves until SIGTERM, then leaves in order with exit code 0', async () => {
    const server = spawnSvc(['server'], env);
    await server.until('"msg":"ready"');
    const url = /"url":"(http:[^"]+)"/.exec(server.output())?.[1] ?? '';
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('ready\n');
    server.kill('SIGTERM');
    expect(await server.ended).toBe(0);
    expect(server.output()).toContain('"msg":"stopped"');
  });

  it('says where a cluster may be named when there is none, with exit code 2', async () => {
    const { SVC_EXECUTOR_TYPE: _, ...rest } = env;
    const server = spawnSvc(['server'], { ...rest, HOME: '/nonexistent' });
    expect(await server.ended).toBe(2);
    expect(server.output()).toContain('set KUBECONFIG to a kubeconfig file');
    const named = spawnSvc(['server'], { ...rest, KUBECONFIG: '/nonexistent/config' });
    expect(await named.ended).toBe(2);
    expect(named.output()).toContain('KUBECONFIG is /nonexistent/config, which does not exist');
  });

  it('stops at once, with 130, when asked a second time', async () => {
    const server = spawnSvc(['server'], env);
    await server.until('"msg":"ready"');
    // A request whose body never ends keeps the orderly stop from finishing.
    const client = connect(Number(/"url":"http:[^"]+:(\d+)"/.exec(server.output())?.[1]), '127.0.0.1');
    client.on('error', () => {}); // it is cut off in the end
    const head = [
      'POST /auth/token HTTP/1.1',
      'host: x',
      'content-type: application/json',
      'content-length: 9',
      'expect: 100-continue',
    ];
    client.write(`${head.join('\r\n')}\r\n\r\n`);
    await once(client, 'data'); // told to continue: the request is in flight
    server.kill('SIGINT');
    server.kill('SIGTERM');
    expect(await server.ended).toBe(130);
    client.destroy();
  });

  it('refuses an unsafe configuration with exit code 2 and the reason, without a stack', async () => {
    const { SVC_AUTH_JWT_SECRET: _, ...rest } = env;
    const server = spawnSvc(['server'], { ...rest, SVC_AUTH_DEV_NO_AUTH: 'true', SVC_SERVER_HTTP_ADDR: '0.0.0.0:0' });
    expect(await server.ended).toBe(2);
    expect(server.output()).toContain('auth.jwt.secret is not set');
    expect(server.output()).toContain('auth.dev_no_auth makes every caller an admin');
    expect(server.output()).not.toContain('    at ');
  });

  it.each(['http', 'metrics'])('names the key when the port of the %s listener is taken', async (listener) => {
    const { port, close } = await occupiedPort();
    const server = spawnSvc(['server', `--server.${listener}-addr`, `127.0.0.1:${port}`], env);
    expect(await server.ended).toBe(2);
    expect(server.output()).toContain(`server.${listener}_addr: 127.0.0.1:${port} is already in use`);
    close();
  });

  it('ends with exit code 1 when its database can never be used', async () => {
    const url = new URL(database.url);
    url.password = 'wrong';
    const server = spawnSvc(['server'], { ...env, SVC_DATABASE_URL: url.toString() });
    expect(await server.ended).toBe(1);
    expect(server.output()).toContain('svc: the control plane cannot get ready: ');
  });
});
