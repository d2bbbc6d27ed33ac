import { createBackoff } from '@svc/spec/backoff.ts';
import type { Backoff } from '@svc/spec/backoff.ts';
import { connect } from 'node:net';
import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Pipeline } from './otlp-pipeline.ts';
import type { SecretRegistry } from './redact.ts';
import type { FinishedSpan } from './runs/run-spans.ts';

/**
 * Traces over OTLP, at no cost while no collector receives them.
 *
 *   unknown ──refused──▶ missing        one info line; probed again after 1, 2, 4 ... 60 seconds
 *   unknown ─┐
 *   missing ─┴─answered─▶ exporting     one info line; the SDK is loaded, spans are made
 *   exporting ──export failed──▶ failing     one warning; no spans, probed as above
 *   failing ──answered──▶ failing       spans are made again on trial; nothing is logged until an export succeeds
 *   failing ──export succeeded──▶ exporting  one info line
 *
 * Outside `exporting` and that trial, every span is one shared no-op object. If a port answers but is not a collector,
 * the state stays `failing` and is logged once, not at every probe.
 */
type State = 'unknown' | 'missing' | 'exporting' | 'failing';

export interface CollectorOptions {
  /** `host:port`, or a URL. The scheme `https` selects TLS. */
  readonly endpoint: string;
  readonly serviceVersion: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly secrets: Pick<SecretRegistry, 'redact' | 'redactDeep'>;
  readonly timing?: Partial<typeof DEFAULT_TIMING>;
}

const DEFAULT_TIMING = { firstRetryMs: 1_000, maxRetryMs: 60_000, batchDelayMs: 5_000, shutdownMs: 3_000 };
const CONNECT_TIMEOUT_MS = 2_000;
const DEFAULT_PORT = 4_317;
const CONFIG_KEY = 'observability.otel.endpoint';

export class CollectorConnection {
  readonly #options: CollectorOptions;
  readonly #timing: typeof DEFAULT_TIMING;
  #state: State = 'unknown';
  #pipeline: Pipeline | undefined;
  readonly #retries: Backoff;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#retries = createBackoff({ firstMs: this.#timing.firstRetryMs, longestMs: this.#timing.maxRetryMs });
  }

  /** Undefined while no collector would receive the spans. */
  get tracer(): Tracer | undefined {
    return this.#pipeline?.tracer;
  }

  /** Sends spans that have ended. Drops them while no collector would receive them. */
  record(spans: readonly FinishedSpan[]): void {
    this.#pipeline?.record(spans);
  }

  /** Returns at once; the first probe runs in the background. */
  start(): void {
    const { endpoint, logger } = this.#options;
    const target = parseEndpoint(endpoint);
    if (target === undefined) {
      logger.warn(
        { code: 'SVC1020' },
        `${CONFIG_KEY}: "${endpoint}" is not host:port, for example localhost:4317; no traces are exported`,
      );
    } else {
      this.#probeAfter(target, 0);
    }
  }

  /** Sends waiting spans, within the time limit of a stop. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const last = this.#pipeline;
    if (last === undefined) return;
    const limit = Promise.withResolvers<void>();
    const limitTimer = setTimeout(limit.resolve, this.#timing.shutdownMs);
    await Promise.race([last.close().catch(() => undefined), limit.promise]);
    clearTimeout(limitTimer);
    this.#pipeline = undefined;
  }

  #probeAfter(target: Target, delayMs: number): void {
    // The timer and the socket of the probe are unreferenced, because tracing alone must not keep a process alive.
    this.#timer = setTimeout(() => {
      this.#probe(target).catch((error: unknown) => {
        // Only a broken installation fails here. The service must run even if it cannot export traces.
        this.#options.logger.warn(
          { code: 'SVC1021', err: error },
          'the trace exporter cannot be loaded; no traces are exported',
        );
      });
    }, delayMs).unref();
  }

  #retry(target: Target): void {
    if (this.#closed) return;
    this.#probeAfter(target, this.#retries.next());
  }

  async #probe(target: Target): Promise<void> {
    const answers = await acceptsConnections(target);
    if (this.#closed) return;
    if (answers) {
      await this.#open(target);
      return;
    }
    if (this.#state === 'unknown') {
      this.#state = 'missing';
      this.#info('no trace collector answers; tracing starts as soon as one does');
    }
    this.#retry(target);
  }

  async #open(target: Target): Promise<void> {
    const { serviceVersion, secrets } = this.#options;
    const { openPipeline } = await import('./otlp-pipeline.ts');
    if (this.#closed) return;
    const opened = openPipeline({
      url: target.url,
      serviceVersion,
      secrets,
      batchDelayMs: this.#timing.batchDelayMs,
      onExport: (failure) => {
        // An abandoned pipeline still reports its last batch, which adds no information.
        if (this.#pipeline === opened) this.#onExport(target, failure);
      },
    });
    this.#pipeline = opened;
    if (this.#state === 'failing') return;
    this.#state = 'exporting';
    this.#info('trace collector found; exporting traces');
  }

  #onExport(target: Target, failure: Error | undefined): void {
    if (failure === undefined) {
      this.#retries.reset();
      if (this.#state === 'failing') this.#info('exporting traces again');
      this.#state = 'exporting';
      return;
    }
    if (this.#state === 'exporting') {
      this.#options.logger.warn(
        { code: 'SVC1022', endpoint: this.#options.endpoint, reason: failure.message },
        `exporting traces failed; spans are dropped until the collector accepts them (check ${CONFIG_KEY})`,
      );
    }
    this.#state = 'failing';
    // Each attempt needs a new pipeline, because the gRPC channel of the old one waits for its back-off of up to two
    // minutes.
    const abandoned = this.#pipeline;
    this.#pipeline = undefined;
    abandoned?.close().catch(() => undefined);
    this.#retry(target);
  }

  #info(message: string): void {
    this.#options.logger.info({ endpoint: this.#options.endpoint }, message);
  }
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/** Parses the endpoint without URL, which drops a port that is the default of its scheme. Our default port differs. */
function parseEndpoint(endpoint: string): Target | undefined {
  const match = /^(?:(https?):\/\/)?(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:\/.*)?$/i.exec(endpoint.trim());
  const [, scheme = 'http', host, portText] = match ?? [];
  const port = portText === undefined ? DEFAULT_PORT : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port, url: `${scheme.toLowerCase()}://${host}:${port}` };
}

function acceptsConnections(target: Target): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: target.host, port: target.port, timeout: CONNECT_TIMEOUT_MS }).unref();
    const settle = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
