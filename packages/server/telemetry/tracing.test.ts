import { execFile } from 'node:child_process';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import type { Logger } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { startHangUpServer } from '@svc/testing/server/hang-up-server.ts';
import { freePort } from '@svc/testing/services/free-port.ts';
import { createLogger } from './logger.ts';
import { createSecretRegistry } from './redact.ts';
import { startTracing } from './tracing.ts';
import type { Tracing } from './tracing.ts';

const CANARY = 'c4nary-value-for-traces';
const EXPORT_PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const TIMING = { firstRetryMs: 20, maxRetryMs: 40, batchDelayMs: 20, shutdownMs: 2_000 };
/** Where the stop brings what the test looks at to the collector, however busy the machine is. */
const PATIENT_STOP = { shutdownMs: 30_000 };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Collector {
  readonly port: number;
  /** The raw protobuf of all exports; strings stand in it as they are. */
  received(): Buffer;
  exports(): number;
  stop(): Promise<void>;
}

/** The gRPC wire format by hand: one length-prefixed message each way, the status in the trailers. */
async function startCollector(options: { port?: number; grpcStatus?: () => number } = {}): Promise<Collector> {
  const bodies: Buffer[] = [];
  const sessions = new Set<{ destroy(): void }>();
  const server = createHttp2Server();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      if (headers[':path'] === EXPORT_PATH) bodies.push(Buffer.concat(chunks));
      stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(options.grpcStatus?.() ?? 0) }));
      stream.end(Buffer.alloc(5));
    });
  });
  await listenOn(server, options.port ?? 0);
  const stop = (): Promise<void> => {
    for (const session of sessions) session.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  closers.push(stop);
  return {
    port: (server.address() as AddressInfo).port,
    received: () => Buffer.concat(bodies),
    exports: () => bodies.length,
    stop,
  };
}

function listenOn(server: Pick<Server, 'listen' | 'once'>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}

function trace(options: { endpoint: string; enabled?: boolean; timing?: Partial<typeof TIMING> }) {
  const lines: string[] = [];
  const secrets = createSecretRegistry();
  secrets.add(CANARY);
  const destination = { write: (line: string) => void lines.push(line) };
  const logger: Logger = createLogger({ level: 'debug', format: 'json', destination, secrets });
  const tracing = startTracing({
    enabled: options.enabled ?? true,
    endpoint: options.endpoint,
    serviceVersion: '9.8.7',
    logger,
    secrets,
    timing: { ...TIMING, ...options.timing },
  });
  closers.push(() => tracing.shutdown());
  return { tracing, messages: () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg), lines };
}

const isRecording = (tracing: Tracing): boolean => tracing.withSpan('probe', {}, (span) => span.isRecording());

/** Keeps producing spans, as a busy service does. */
async function traceUntil(tracing: Tracing, condition: () => boolean): Promise<void> {
  await eventually(() => {
    isRecording(tracing);
    return condition();
  });
}

async function tracedApp() {
  const collector = await startCollector();
  const { tracing } = trace({ endpoint: `127.0.0.1:${collector.port}`, timing: PATIENT_STOP });
  await eventually(() => isRecording(tracing));
  const app = Fastify();
  closers.push(() => app.close());
  await app.register(tracing.httpHooks);
  app.post('/dags/:dag_id', async (request) => {
    const child = tracing.tracer.startSpan('in-handler');
    child.end();
    return { ...child.spanContext(), query: request.query };
  });
  app.get('/broken', async () => Promise.reject(new Error(`broken ${CANARY}`)));
  return { app, tracing, collector };
}

test('a span that has ended elsewhere arrives with its own ids and links, and without a secret', async () => {
  const collector = await startCollector();
  const { tracing } = trace({ endpoint: `127.0.0.1:${collector.port}`, timing: PATIENT_STOP });
  const ids = (digit: string) => ({ traceId: digit.repeat(32), spanId: digit.repeat(16) });
  const moment = '2026-11-15T06:31:12.123456Z';
  const common = { start: moment, end: moment, failure: `no ${CANARY}`, attributes: { 'svc.dag_id': 'etl' } };
  expect(tracing.isActive()).toBe(false);
  tracing.record([]); // dropped: nothing receives it yet
  await eventually(() => tracing.isActive());
  tracing.record([{ ...ids('a'), ...common, name: 'run etl', parent: ids('b'), links: [ids('c')] }]);
  await tracing.shutdown();
  const received = collector.received();
  for (const digit of ['a', 'b', 'c'])
    expect(received.includes(Buffer.from(digit.repeat(16), 'hex')), digit).toBe(true);
  expect(received.includes('run etl')).toBe(true);
  expect(received.includes(CANARY)).toBe(false);
});

describe('without a collector', () => {
  test('nothing is exported, one line is logged however often it is probed, and every span is the same no-op', async () => {
    const { tracing, messages } = trace({ endpoint: `127.0.0.1:${await freePort()}` });
    const spans = new Set([tracing.tracer.startSpan('a'), tracing.withSpan('b', {}, (span) => span)]);
    await eventually(() => messages().length > 0);
    // A probe that is refused leaves nothing to wait for but time: several rounds, which are at most 40 ms apart.
    await new Promise((resolve) => setTimeout(resolve, 200));
    spans.add(tracing.tracer.startSpan('c'));
    expect(spans.size).toBe(1);
    expect(messages()).toEqual(['no trace collector answers; tracing starts as soon as one does']);
  });

  test('starting returns before anything is probed, and results and errors pass through unchanged', async () => {
    const { tracing, lines } = trace({ endpoint: `127.0.0.1:${await freePort()}` });
    expect(lines).toEqual([]);
    expect(tracing.withSpan('sync', {}, () => 7)).toBe(7);
    await expect(tracing.withSpan('async', {}, async () => 'x')).resolves.toBe('x');
    expect(() =>
      tracing.withSpan('throws', {}, () => {
        throw new Error('mine');
      }),
    ).toThrow('mine');
  });

  test('the SDK is never loaded, and probing does not keep a process alive that has finished', async () => {
    const script = `
      import { createRequire } from 'node:module';
      import { createLogger } from ${JSON.stringify(import.meta.resolve('./logger.ts'))};
      import { createSecretRegistry } from ${JSON.stringify(import.meta.resolve('./redact.ts'))};
      import { startTracing } from ${JSON.stringify(import.meta.resolve('./tracing.ts'))};
      const secrets = createSecretRegistry();
      const untilProbed = setInterval(() => {}, 1_000);
      const write = (line) => {
        console.log(line.trim());
        const loaded = Object.keys(createRequire(import.meta.url).cache);
        console.log(JSON.stringify({ msg: 'grpc ' + loaded.some((file) => file.includes('grpc-js')) }));
        clearInterval(untilProbed);
      };
      const logger = createLogger({ level: 'info', format: 'json', destination: { write }, secrets });
      startTracing({ enabled: true, endpoint: '127.0.0.1:${await freePort()}', serviceVersion: '1', logger, secrets });
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toEqual(['no trace collector answers; tracing starts as soon as one does', 'grpc false']);
  });

  test('switched off means no probe at all', async () => {
    const nobody = await startHangUpServer();
    closers.push(nobody.close);
    const endpoint = `127.0.0.1:${nobody.port}`;
    const { tracing, lines } = trace({ enabled: false, endpoint });
    // One that is on and was started later has probed, once: the other would have been the first.
    const later = trace({ endpoint, timing: { firstRetryMs: 600_000, maxRetryMs: 600_000 } });
    await eventually(() => later.messages().length > 0);
    expect(nobody.calls()).toBe(1);
    expect(lines).toEqual([]);
    expect(isRecording(tracing)).toBe(false);
  });

  test.each(['', 'host:99999', 'ftp://host', 'a b'])(
    'the endpoint "%s" is reported by its key and does not stop the boot',
    (endpoint) => {
      const { messages } = trace({ endpoint });
      expect(messages()).toEqual([expect.stringContaining('observability.otel.endpoint: ')]);
    },
  );
});

describe('with a collector', () => {
  test('spans arrive with names, attributes, service and parents; secrets do not', async () => {
    const collector = await startCollector();
    const { tracing, messages } = trace({ endpoint: `http://127.0.0.1:${collector.port}`, timing: PATIENT_STOP });
    await eventually(() => isRecording(tracing));
    await tracing.withSpan(
      `outer ${CANARY}`,
      { dag_id: 'my_dag', note: `uses ${CANARY}`, password: 'unknown-password' },
      async (outer) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        outer.addEvent(`event ${CANARY}`, { detail: CANARY, list: ['x', CANARY] });
        const inner = tracing.tracer.startSpan('inner-span');
        expect(inner.spanContext().traceId).toBe(outer.spanContext().traceId);
        inner.end();
      },
    );
    await tracing
      .withSpan('failing-span', {}, () => Promise.reject(new Error(`boom ${CANARY}`)))
      .catch(() => undefined);
    await tracing.shutdown();
    const received = collector.received().toString('latin1');
    for (const text of [
      'outer ***',
      'my_dag',
      'uses ***',
      'event ***',
      'inner-span',
      'failing-span',
      'boom ***',
      'service.name',
      'svc',
      '9.8.7',
    ]) {
      expect(received).toContain(text);
    }
    expect(received).not.toContain('c4nary');
    expect(received).not.toContain('unknown-password');
    expect(messages()).toEqual(['trace collector found; exporting traces']);
  });

  test('one that appears later is found, with one line for each change', async () => {
    const port = await freePort();
    const { tracing, messages } = trace({ endpoint: `127.0.0.1:${port}` });
    await eventually(() => messages().length === 1);
    const collector = await startCollector({ port });
    await eventually(() => isRecording(tracing));
    await eventually(() => collector.exports() > 0);
    expect(messages()).toEqual([
      'no trace collector answers; tracing starts as soon as one does',
      'trace collector found; exporting traces',
    ]);
  });

  test('one that goes away and comes back costs one warning and one line, and spans flow again', async () => {
    const first = await startCollector({ port: await freePort() });
    const { tracing, messages } = trace({ endpoint: `127.0.0.1:${first.port}` });
    await eventually(() => isRecording(tracing));
    await eventually(() => first.exports() > 0);
    await first.stop();
    await eventually(() => !isRecording(tracing));
    const second = await startCollector({ port: first.port });
    await eventually(() => isRecording(tracing) && second.exports() > 0);
    await eventually(() => messages().length >= 3);
    expect(messages()).toEqual([
      'trace collector found; exporting traces',
      expect.stringContaining('exporting traces failed'),
      'exporting traces again',
    ]);
  });

  test('a port that answers but refuses every export is reported once, not at every attempt', async () => {
    let status = 12;
    const collector = await startCollector({ grpcStatus: () => status });
    const { tracing, messages } = trace({ endpoint: `127.0.0.1:${collector.port}` });
    await traceUntil(tracing, () => collector.exports() >= 4);
    expect(messages().filter((message) => message.includes('failed'))).toHaveLength(1);
    expect(messages()).toHaveLength(2);
    status = 0;
    await traceUntil(tracing, () => messages().length === 3);
    expect(messages()[2]).toBe('exporting traces again');
  });

  test('a collector that hangs does not hold up the stop', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket));
    await listenOn(server, 0);
    closers.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    const { tracing } = trace({
      endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      timing: { shutdownMs: 50 },
    });
    await eventually(() => isRecording(tracing));
    await tracing.shutdown();
    expect(isRecording(tracing)).toBe(false);
  });
});

describe('requests', () => {
  test("the caller's trace continues into spans of the handler, also behind a parsed body", async () => {
    const { app, tracing, collector } = await tracedApp();
    const traceId = 'ab'.repeat(16);
    await app.listen({ port: 0, host: '127.0.0.1' });
    // The body comes in two packets after the headers, the way it leaves the first hook's call stack for good.
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const part of ['{"a":', '1}']) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          controller.enqueue(Buffer.from(part));
        }
        controller.close();
      },
    });
    const response = await fetch(`${app.listeningOrigin}/dags/my_dag?token=query-secret`, {
      method: 'POST',
      headers: { traceparent: `00-${traceId}-${'cd'.repeat(8)}-01`, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    });
    expect(await response.json()).toMatchObject({ traceId });
    // The span ends when the connection is done with the response, a moment after the client has read it.
    await app.close();
    await tracing.shutdown();
    const received = collector.received().toString('latin1');
    expect(received).toContain('POST /dags/:dag_id');
    expect(received).toContain('/dags/my_dag');
    expect(received).not.toContain('query-secret');
    expect(collector.received().includes(Buffer.from('cd'.repeat(8), 'hex'))).toBe(true);
  });

  test.each([
    ['no header', undefined],
    ['a malformed one', '00-xyz-1-01'],
    ['the forbidden version', `ff-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`],
    ['a zero trace id', `00-${'00'.repeat(16)}-${'cd'.repeat(8)}-01`],
    ['trailing text in version 00', `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01-x`],
  ])('%s starts a new trace', async (_case, traceparent) => {
    const { app } = await tracedApp();
    const headers = traceparent === undefined ? {} : { traceparent };
    const response = await app.inject({ method: 'POST', url: '/dags/x', headers, payload: {} });
    const { traceId } = response.json<{ traceId: string }>();
    expect(traceId).toMatch(/^[\da-f]{32}$/);
    expect(['ab'.repeat(16), '00'.repeat(16)]).not.toContain(traceId);
  });

  test('a failing handler marks its span, with the secret of its message masked', async () => {
    const { app, tracing, collector } = await tracedApp();
    await app.inject('/broken');
    await app.inject('/nowhere');
    await tracing.shutdown();
    const received = collector.received().toString('latin1');
    expect(received).toContain('broken ***');
    expect(received).not.toContain('c4nary');
    expect(received).not.toContain('GET /nowhere');
  });

  test('without a collector a request passes with no span at all', async () => {
    const { tracing } = trace({ endpoint: `127.0.0.1:${await freePort()}` });
    const app = Fastify();
    closers.push(() => app.close());
    await app.register(tracing.httpHooks);
    app.get('/x', async () => tracing.tracer.startSpan('s').spanContext().traceId);
    expect(
      (await app.inject({ url: '/x', headers: { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` } })).body,
    ).toBe('0'.repeat(32));
  });
});
