/**
 * The HTTP listener with admission control in front. Admission decides whether to serve a request before the request is
 * routed, authenticated or read. A refusal must cost the process little. It is a fixed answer, and refusals are sent in
 * small batches. A client that retries immediately therefore cannot fill the event loop with refusals. Probes are
 * always served.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { createAdmission } from './admission.ts';
import type { AdmissionLimits, Lane, Place, Refusal } from './admission.ts';
import { ApiError, problemOf } from '../errors.ts';
import { PROBES } from '../probes.ts';

export type AdmissionOptions = {
  limits: AdmissionLimits;
  /** Returns the client for whom a request counts. */
  laneOf(request: IncomingMessage): Lane;
  /** True while the process does something more urgent than waiting requests. */
  isBusy?(): boolean;
  /** Creates the listener. The default is plain HTTP. */
  listener?: ((handler: RequestListener) => Server) | undefined;
  /** Receives the number of refusals since its last call. */
  onRefused?(counts: Record<Refusal, number>): void;
};

export type AdmissionServer = {
  create(handler: RequestListener): Server;
  /**
   * Releases the place of a request whose answer stays open. Otherwise clients that follow a log would occupy places
   * and keep others waiting. Another stream keeps its place for a moment, in which nearly all of them end. The rest
   * have slow readers.
   */
  releaseStreams(app: FastifyInstance): void;
  usage(): { serving: number; waiting: number };
};

/** Refusals are sent in small batches, so at most 1,000 are sent per second, and no request waits for many of them. */
const REFUSALS_AT_ONCE = 5;
const REFUSALS_EVERY_MS = 5;
/** Beyond this number of delayed refusals, a refusal is sent at once. */
const MAX_HELD_BACK = 10_000;
const STREAM_KEEPS_PLACE_MS = 500;
const REPORT_EVERY_MS = 5_000;
const RETRY_AFTER_SECONDS = '2';

const DETAILS: Record<Refusal, string> = {
  user: 'you have more requests waiting than one user may: send fewer at the same time, or try again shortly',
  tenant: 'your tenant has more requests waiting than its share: send fewer at the same time, or try again shortly',
  process: 'more requests are waiting than this server can answer in time: try again shortly',
};
const STATUS: Record<Refusal, number> = { user: 429, tenant: 429, process: 503 };

export function createAdmissionServer(options: AdmissionOptions): AdmissionServer {
  const loop = createLoopWatch();
  const admission = createAdmission(options.limits, {
    isBusy: options.isBusy ?? (() => false),
    isSaturated: loop.isSaturated,
    now: () => performance.now(),
    later: (run, ms) => void (ms === 0 ? setImmediate(run) : setTimeout(run, ms).unref()),
  });
  const places = new WeakMap<IncomingMessage, Place>();
  const refusals = createRefusals(options.onRefused);

  return {
    usage: admission.usage,
    create(handler) {
      const server = (options.listener ?? createServer)((request, response) => {
        if (PROBES.has(pathOf(request))) return handler(request, response);
        const place = admission.enter({
          lane: options.laneOf(request),
          start: () => void handler(request, response),
          refuse: (reason) => refusals.send(request, response, reason),
        });
        places.set(request, place);
        response.once('close', () => place.leave());
      });
      server.once('close', () => {
        admission.close();
        refusals.close();
      });
      return server;
    },
    releaseStreams(app) {
      app.addHook('onSend', async (request, _reply, payload) => {
        if (!isStream(payload)) return;
        const place = places.get(request.raw);
        if (request.staysOpen) place?.leave();
        else setTimeout(() => place?.leave(), STREAM_KEEPS_PLACE_MS).unref();
      });
    },
  };
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const isStream = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && ('pipe' in payload || 'getReader' in payload);

type Refusals = {
  send(request: IncomingMessage, response: ServerResponse, reason: Refusal): void;
  close(): void;
};

function createRefusals(onRefused: AdmissionOptions['onRefused']): Refusals {
  const held: (() => void)[] = [];
  let counts = { user: 0, tenant: 0, process: 0 };
  let sending: NodeJS.Timeout | undefined;
  let reporting: NodeJS.Timeout | undefined;

  function count(reason: Refusal): void {
    counts[reason] += 1;
    reporting ??= setTimeout(() => {
      reporting = undefined;
      onRefused?.(counts);
      counts = { user: 0, tenant: 0, process: 0 };
    }, REPORT_EVERY_MS).unref();
  }

  function sendSome(): void {
    for (const refuse of held.splice(0, REFUSALS_AT_ONCE)) refuse();
    sending = held.length > 0 ? setTimeout(sendSome, REFUSALS_EVERY_MS) : undefined;
  }

  return {
    send(request, response, reason) {
      count(reason);
      const refuse = (): void => answerRefused(request, response, reason);
      if (held.length >= MAX_HELD_BACK) return refuse();
      held.push(refuse);
      sending ??= setTimeout(sendSome, REFUSALS_EVERY_MS);
    },
    close() {
      clearTimeout(sending);
      clearTimeout(reporting);
      for (const refuse of held.splice(0)) refuse();
    },
  };
}

/**
 * All refusals have the code `overloaded`, because a client reacts to them in the same way. The problem is built once,
 * because an error with its stack costs more than the rest of a refusal.
 */
const PROBLEMS: Record<Refusal, (path: string) => object> = {
  user: problemWith('user'),
  tenant: problemWith('tenant'),
  process: problemWith('process'),
};

function problemWith(reason: Refusal): (path: string) => object {
  const problem = { ...problemOf(new ApiError('overloaded', DETAILS[reason]), ''), status: STATUS[reason] };
  return (instance) => ({ ...problem, instance });
}

function answerRefused(request: IncomingMessage, response: ServerResponse, reason: Refusal): void {
  if (response.destroyed || response.headersSent) return;
  const body = JSON.stringify(PROBLEMS[reason](pathOf(request)));
  response
    .writeHead(STATUS[reason], {
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'retry-after': RETRY_AFTER_SECONDS,
      'x-content-type-options': 'nosniff',
      'x-request-id': randomUUID(),
    })
    .end(body);
}

const SAMPLED_EVERY_MS = 50;
const SATURATED = 0.7;

/** Measures how busy the event loop was recently. It samples only when a caller asks. */
function createLoopWatch(): { isSaturated(): boolean } {
  let last = performance.eventLoopUtilization();
  let lastAt = performance.now();
  let utilization = 0;
  return {
    isSaturated() {
      if (performance.now() - lastAt < SAMPLED_EVERY_MS) return utilization > SATURATED;
      const now = performance.eventLoopUtilization();
      ({ utilization } = performance.eventLoopUtilization(now, last));
      last = now;
      lastAt = performance.now();
      return utilization > SATURATED;
    },
  };
}
