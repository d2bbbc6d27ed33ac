import type { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { fastifyPlugin } from 'fastify-plugin';
import type { FastifyPluginCallback, FastifyRequest } from 'fastify';

/** Creates one server span per request. The spans of the handler become its children. */
export function createHttpHooks(options: {
  startSpan: Tracer['startSpan'];
  contexts: AsyncLocalStorage<Context>;
  isActive: () => boolean;
}): FastifyPluginCallback {
  const { startSpan, contexts, isActive } = options;
  const spans = new WeakMap<FastifyRequest, Span>();

  const plugin: FastifyPluginCallback = (app, _pluginOptions, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      if (!isActive()) return next();
      const span = startRequestSpan({ request, startSpan });
      spans.set(request, span);
      // 'close' is emitted for answered and for abandoned requests.
      reply.raw.once('close', () => {
        span.setAttribute('http.response.status_code', reply.statusCode);
        if (reply.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      // The framework carries this context through body parsing into the handler.
      contexts.run(trace.setSpan(ROOT_CONTEXT, span), next);
    });
    app.addHook('onError', (request, _reply, error, next) => {
      const span = spans.get(request);
      if (span !== undefined) recordFailure(span, error);
      next();
    });
    done();
  };
  return fastifyPlugin(plugin, { name: 'svc-tracing', fastify: '5.x' });
}

function startRequestSpan(options: { request: FastifyRequest; startSpan: Tracer['startSpan'] }): Span {
  const { request, startSpan } = options;
  const route = request.routeOptions.url;
  return startSpan(
    // The name is the route pattern instead of the path, because names group spans and must stay few.
    route === undefined ? request.method : `${request.method} ${route}`,
    {
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': request.method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'url.path': request.url.split('?', 1)[0] ?? '',
        'client.address': request.ip,
        'svc.request_id': request.id,
      },
    },
    parentContext(request.headers.traceparent),
  );
}

/**
 * Parses the W3C trace context, version 00 and later. A malformed header starts a new trace, as the standard requires.
 */
function parentContext(header: string | string[] | undefined): Context {
  const match = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(String(header).trim());
  if (match === null) return ROOT_CONTEXT;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  const isWellFormed =
    version !== 'ff' && (version !== '00' || more === undefined) && trace.isSpanContextValid(spanContext);
  return isWellFormed ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : ROOT_CONTEXT;
}

export function recordFailure(span: Span, error: unknown): void {
  const exception = error instanceof Error ? error : new Error(String(error));
  span.recordException(exception);
  span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
}
