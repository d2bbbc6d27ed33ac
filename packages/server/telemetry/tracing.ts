import { AsyncLocalStorage } from 'node:async_hooks';
import { INVALID_SPAN_CONTEXT, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { FastifyPluginCallback } from 'fastify';
import { CollectorConnection } from './collector-connection.ts';
import type { CollectorOptions } from './collector-connection.ts';
import type { FinishedSpan } from './runs/run-spans.ts';
import { createHttpHooks, recordFailure } from './request-spans.ts';

export interface TracingOptions extends CollectorOptions {
  readonly enabled: boolean;
}

export interface Tracing {
  readonly tracer: Pick<Tracer, 'startSpan'>;
  /** Runs `fn` in a span that ends with it; spans started inside, also after an await, become its children. */
  withSpan<T>(name: string, attributes: Attributes, fn: (span: Span) => T): T;
  /**
   * A Fastify plugin that creates one server span per request. It continues the trace of the caller if the request has
   * a `traceparent`.
   */
  readonly httpHooks: FastifyPluginCallback;
  /** True while a collector receives spans. */
  isActive(): boolean;
  /** Sends spans that have ended elsewhere. */
  record(spans: readonly FinishedSpan[]): void;
  /** Sends waiting spans, within a short time limit. */
  shutdown(): Promise<void>;
}

const NOOP_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/**
 * Spans for the rest of the program. While no collector answers, every span is the same no-op object, and `withSpan` is
 * a plain call.
 */
export function startTracing(options: TracingOptions): Tracing {
  const connection = new CollectorConnection(options);
  if (options.enabled) connection.start();
  const contexts = new AsyncLocalStorage<Context>();

  const startSpan: Tracer['startSpan'] = (name, spanOptions, context) =>
    connection.tracer?.startSpan(name, spanOptions, context ?? contexts.getStore() ?? ROOT_CONTEXT) ?? NOOP_SPAN;

  const withSpan = <T>(name: string, attributes: Attributes, fn: (span: Span) => T): T => {
    if (connection.tracer === undefined) return fn(NOOP_SPAN);
    const span = startSpan(name, { attributes });
    const context = trace.setSpan(contexts.getStore() ?? ROOT_CONTEXT, span);
    return endWith(span, () => contexts.run(context, fn, span));
  };

  return {
    tracer: { startSpan },
    withSpan,
    httpHooks: createHttpHooks({ startSpan, contexts, isActive: () => connection.tracer !== undefined }),
    isActive: () => connection.tracer !== undefined,
    record: (spans) => connection.record(spans),
    shutdown: () => connection.close(),
  };
}

/** Ends the span when the work does, whether it returns, throws or settles later. */
function endWith<T>(span: Span, work: () => T): T {
  const fail = (error: unknown): never => {
    recordFailure(span, error);
    span.end();
    throw error;
  };
  let result: T;
  try {
    result = work();
  } catch (error) {
    return fail(error);
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  const settled = result.then((value: unknown) => {
    span.end();
    return value;
  }, fail);
  return settled as T;
}
