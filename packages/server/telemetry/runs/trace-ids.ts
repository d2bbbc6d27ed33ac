/**
 * The ids of the trace of a run and of its spans. They follow from the ids of the rows, so that every process knows
 * them without asking: the one that starts an attempt, the one that records its end, and the task itself. Pure.
 *
 *   run ─▶ try of a task instance ─▶ attempt ─▶ queued
 *                                            └▶ body ─▶ spans of the author's code
 */
import { createHash } from 'node:crypto';
import type { InstanceRow, RunRow } from '../../db/schema.ts';

export type SpanIds = { traceId: string; spanId: string };

type Run = Pick<RunRow, 'tenant_id' | 'id' | 'conf'>;

/** Reads a `traceparent` of the W3C trace context. Undefined if it is malformed. */
export function parseTraceparent(text: unknown): SpanIds | undefined {
  if (typeof text !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', more] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(text.trim()) ?? [];
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || more === undefined);
  if (!isKnown || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** The span that the run continues: `traceparent` in the `conf` of its trigger. */
export const parentOfRun = (run: Run): SpanIds | undefined => parseTraceparent(run.conf['traceparent']);

export const traceOfRun = (run: Run): string =>
  parentOfRun(run)?.traceId ?? hashOf(`trace ${run.tenant_id} ${run.id}`).slice(0, 32);

export const spanOfRun = (run: Pick<Run, 'tenant_id' | 'id'>): string =>
  hashOf(`run ${run.tenant_id} ${run.id}`).slice(0, 16);

export const spanOfTry = ({ id, try_number: number }: Pick<InstanceRow, 'id' | 'try_number'>): string =>
  hashOf(`try ${id} ${number}`).slice(0, 16);

export type AttemptPart = 'attempt' | 'queued' | 'body';

export const spanOfAttempt = (attemptId: string, part: AttemptPart): string =>
  hashOf(`${part} ${attemptId}`).slice(0, 16);

/** What the task process gets as TRACEPARENT: spans of its code become children of the body. */
export const traceparentOf = (run: Run, attemptId: string): string =>
  `00-${traceOfRun(run)}-${spanOfAttempt(attemptId, 'body')}-01`;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
