import { hostname } from 'node:os';
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { Attributes, SpanContext, Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ReadableSpan, SpanExporter, TracerProviderOptions } from '@opentelemetry/sdk-trace';
import type { SecretRegistry } from './redact.ts';
import type { FinishedSpan } from './runs/run-spans.ts';
import type { SpanIds } from './runs/trace-ids.ts';

/**
 * Everything that needs the OpenTelemetry SDK. It is imported only after a collector has answered, because the SDK with
 * its gRPC client costs time and memory.
 */
export interface PipelineOptions {
  /** `http://host:port` for plain text, `https://host:port` for TLS. */
  readonly url: string;
  readonly serviceVersion: string;
  readonly secrets: Pick<SecretRegistry, 'redact' | 'redactDeep'>;
  readonly batchDelayMs: number;
  /** Called after each export, with the reason when it failed. */
  readonly onExport: (failure: Error | undefined) => void;
}

export interface Pipeline {
  readonly tracer: Tracer;
  /** Sends spans that have ended, with the ids that they have. */
  record(spans: readonly FinishedSpan[]): void;
  /** Sends waiting spans and releases the connection. */
  close(): Promise<void>;
}

const EXPORT_TIMEOUT_MS = 10_000;
const EXPORT_SUCCEEDED = 0;

export function openPipeline(options: PipelineOptions): Pipeline {
  const exporter = new OTLPTraceExporter({ url: options.url, timeoutMillis: EXPORT_TIMEOUT_MS });
  const masking: SpanExporter = {
    // Masks at export instead of where attributes are set, because errors, links and libraries also add text to spans.
    export: (spans, done) => {
      const masked = spans.map((span) => maskSpan({ span, secrets: options.secrets }));
      exporter.export(masked, (result) => {
        const failure = result.error ?? new Error('the collector refused the spans');
        options.onExport(result.code === EXPORT_SUCCEEDED ? undefined : failure);
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const resource = createResource(options.serviceVersion);
  const processor = new BatchSpanProcessor({ exporter: masking, scheduledDelayMillis: options.batchDelayMs });
  const provider = new TracerProvider({ resource, spanProcessors: [processor] });
  return {
    tracer: provider.getTracer('svc', options.serviceVersion),
    record(spans) {
      for (const span of spans) processor.onEnd(readable(span, { resource, version: options.serviceVersion }));
    },
    close: () => provider.shutdown(),
  };
}

/** A tracer would give the span another id, so it is made without one. */
function readable(
  span: FinishedSpan,
  { resource, version }: { resource: ReadableSpan['resource']; version: string },
): ReadableSpan {
  const [startMs, endMs] = [Date.parse(span.start), Math.max(Date.parse(span.end), Date.parse(span.start))];
  return {
    name: span.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => contextOf(span),
    ...(span.parent && { parentSpanContext: { ...contextOf(span.parent), isRemote: true } }),
    startTime: timeOf(startMs),
    endTime: timeOf(endMs),
    duration: timeOf(endMs - startMs),
    ended: true,
    status:
      span.failure === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: span.failure },
    attributes: { ...span.attributes },
    links: (span.links ?? []).map((link) => ({ context: contextOf(link) })),
    events: [],
    resource,
    instrumentationScope: { name: 'svc', version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const contextOf = ({ traceId, spanId }: SpanIds): SpanContext => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
const timeOf = (ms: number): [seconds: number, nanoseconds: number] => [Math.floor(ms / 1_000), (ms % 1_000) * 1e6];

/** A minimal resource. The package that builds resources is not a dependency, and only these members are read. */
function createResource(serviceVersion: string): NonNullable<TracerProviderOptions['resource']> {
  const attributes = {
    'service.name': 'svc',
    'service.version': serviceVersion,
    'host.name': hostname(),
    'process.pid': process.pid,
  };
  const resource: ReturnType<typeof createResource> = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}

/** Returns a view of the span with all texts masked. Everything else is read from the original. */
function maskSpan(options: { span: ReadableSpan; secrets: PipelineOptions['secrets'] }): ReadableSpan {
  const { span, secrets } = options;
  const masked = (attributes: Attributes | undefined): Attributes => secrets.redactDeep(attributes ?? {}) as Attributes;
  const { code, message } = span.status;
  const overrides = {
    name: secrets.redact(span.name),
    attributes: masked(span.attributes),
    status: message === undefined ? { code } : { code, message: secrets.redact(message) },
    events: span.events.map((event) => ({
      ...event,
      name: secrets.redact(event.name),
      attributes: masked(event.attributes),
    })),
    links: span.links.map((link) => ({ ...link, attributes: masked(link.attributes) })),
  } satisfies Partial<ReadableSpan>;
  return Object.create(span, Object.getOwnPropertyDescriptors(overrides)) as ReadableSpan;
}
