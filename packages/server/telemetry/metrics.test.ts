import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { createMetricsServer } from './metrics-server.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';

interface Sample {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** A strict reader of the text format: a line it does not understand fails the test. */
function parseExposition(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || /^# (HELP|TYPE) [a-z_:][a-z0-9_:]* ./.test(line)) continue;
    const match = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (-?[\d.e+-]+|NaN|[+-]Inf)$/.exec(line);
    if (match === null) throw new Error(`not an exposition line: ${line}`);
    const labels = [...(match[2] ?? '').matchAll(/([a-z_][a-z0-9_]*)="((?:[^"\\]|\\.)*)"/g)];
    samples.push({
      name: match[1] ?? '',
      labels: Object.fromEntries(labels.map(([, key = '', value = '']) => [key, value])),
      value: Number(match[3]),
    });
  }
  return samples;
}

async function valueOf(
  metrics: Metrics,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const samples = parseExposition(await metrics.exposition());
  return samples.find(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const start = async (metrics: Pick<Metrics, 'exposition' | 'contentType'> = createMetrics({ version: '1' })) => {
  const server = createMetricsServer({ address: '127.0.0.1:0', metrics });
  closers.push(() => server.close());
  return `http://127.0.0.1:${(await server.listen()).port}`;
};

describe('what is measured', () => {
  test('requests are counted and timed by route pattern, never by URL', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    const app = Fastify();
    closers.push(() => app.close());
    await app.register(metrics.httpHooks);
    app.get('/dags/:dag_id', async () => 'ok');
    app.get('/broken', async () => Promise.reject(new Error('x')));
    for (const url of ['/dags/one', '/dags/canary-two?token=canary', '/broken', '/nowhere/canary', '/else'])
      await app.inject(url);
    const text = await metrics.exposition();
    const requests = parseExposition(text).filter((sample) => sample.name === 'http_requests_total');
    expect(
      requests.map(({ labels, value }) => `${labels['method']} ${labels['route']} ${labels['status']} ${value}`).sort(),
    ).toEqual(['GET /broken 500 1', 'GET /dags/:dag_id 200 2', 'GET unmatched 404 2']);
    expect(text).not.toContain('canary');
    expect(await valueOf(metrics, 'http_request_duration_seconds_count', { route: '/dags/:dag_id' })).toBe(2);
    expect(await valueOf(metrics, 'http_request_duration_seconds_bucket', { route: '/dags/:dag_id', le: '+Inf' })).toBe(
      2,
    );
  });

  test('a client that hangs up is counted too', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    const app = Fastify();
    closers.push(() => app.close());
    await app.register(metrics.httpHooks);
    const reached = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    app.get('/slow', async (_request, reply) => {
      reply.raw.once('close', () => gone.resolve());
      reached.resolve();
      await gone.promise;
      return 'late';
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await reached.promise;
    socket.destroy();
    await gone.promise;
    expect(await valueOf(metrics, 'http_requests_total', { route: '/slow', status: '499' })).toBe(1);
  });

  test('the pool and the scheduler are read at the moment of the scrape', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    let usage = { idle: 3, busy: 1, waiting: 0 };
    let lastBeat: number | undefined;
    metrics.watchDatabasePool(() => usage);
    metrics.watchScheduler(() => lastBeat);
    expect(await valueOf(metrics, 'svc_db_pool_connections', { state: 'idle' })).toBe(3);
    expect(await valueOf(metrics, 'svc_scheduler_heartbeat_age_seconds')).toBeUndefined();
    usage = { idle: 0, busy: 4, waiting: 7 };
    lastBeat = Date.now() - 90_000;
    expect(await valueOf(metrics, 'svc_db_pool_connections', { state: 'waiting' })).toBe(7);
    expect(await valueOf(metrics, 'svc_scheduler_heartbeat_age_seconds')).toBeGreaterThanOrEqual(90);
    lastBeat = undefined;
    expect(await valueOf(metrics, 'svc_scheduler_heartbeat_age_seconds')).toBeUndefined();
  });

  test('failures are countable from zero, so that a rate exists before the first', async () => {
    const metrics = createMetrics({ version: '1.2.3' });
    expect(await valueOf(metrics, 'svc_login_failures_total')).toBe(0);
    expect(await valueOf(metrics, 'svc_db_outages_total')).toBe(0);
    metrics.loginFailed();
    metrics.databaseOutage();
    metrics.databaseOutage();
    expect(await valueOf(metrics, 'svc_login_failures_total')).toBe(1);
    expect(await valueOf(metrics, 'svc_db_outages_total')).toBe(2);
  });

  test('build and process are described, and two servers in one process do not share counters', async () => {
    const [first, second] = [createMetrics({ version: '1.2.3' }), createMetrics({ version: '1.2.3' })];
    expect(await valueOf(first, 'svc_build_info', { version: '1.2.3', node: process.versions.node })).toBe(1);
    expect(await valueOf(first, 'process_resident_memory_bytes')).toBeGreaterThan(0);
    first.loginFailed();
    expect(await valueOf(second, 'svc_login_failures_total')).toBe(0);
  });
});

describe('the listener', () => {
  test('GET /metrics answers the exposition, everything else 404', async () => {
    const base = await start();
    const response = await fetch(`${base}/metrics?x=1`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(parseExposition(await response.text()).length).toBeGreaterThan(10);
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/metrics/x`)).status).toBe(404);
    expect((await fetch(`${base}/metrics`, { method: 'POST' })).status).toBe(404);
  });

  test('a collector that fails is a 500 without its reason', async () => {
    const base = await start({
      contentType: 'text/plain',
      exposition: () => Promise.reject(new Error('pool at h:pw')),
    });
    const response = await fetch(`${base}/metrics`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('pw');
  });

  test('an address in use names the key to change', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    closers.push(() => new Promise((resolve) => other.close(resolve)));
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const server = createMetricsServer({ address, metrics: createMetrics({ version: '1' }) });
    await expect(server.listen()).rejects.toThrow(`server.metrics_addr: ${address} is already in use`);
  });

  test.each(['9090', 'host', 'host:99999', 'host:', ''])('"%s" is refused by name', (address) => {
    expect(() => createMetricsServer({ address, metrics: createMetrics({ version: '1' }) })).toThrow(
      /^server\.metrics_addr: /,
    );
  });

  test.each([':0', '[::1]:0', '0.0.0.0:0'])('%s is an address to listen on', async (address) => {
    const server = createMetricsServer({ address, metrics: createMetrics({ version: '1' }) });
    closers.push(() => server.close());
    expect((await server.listen()).port).toBeGreaterThan(0);
  });

  test('an open scraper connection does not hold up the stop', async () => {
    const server = createMetricsServer({ address: '127.0.0.1:0', metrics: createMetrics({ version: '1' }) });
    const { port } = await server.listen();
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    await server.close();
    socket.destroy();
  });
});
