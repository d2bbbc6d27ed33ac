/** The spans of ended attempts and runs, from their rows. Pure. */
import type { InstanceRow, RunRow } from '../../db/schema.ts';
import { parentOfRun, spanOfAttempt, spanOfRun, spanOfTry, traceOfRun } from './trace-ids.ts';
import type { SpanIds } from './trace-ids.ts';

/** A span that has ended. Moments are ISO 8601. */
export type FinishedSpan = SpanIds & {
  name: string;
  parent: SpanIds | undefined;
  start: string;
  end: string;
  /** Undefined: no failure. */
  failure?: string;
  attributes: Readonly<Record<string, string | number>>;
  links?: readonly SpanIds[];
};

/** An attempt that has ended, with the rows after its end. */
export type EndedAttempt = { attemptId: string; run: RunRow; instance: InstanceRow };

const ENDS = new Set(['success', 'failed', 'skipped', 'up_for_retry']);

/** `now`: the end of an attempt whose row has none, because its try continues. */
export function spansOfAttempt({ attemptId, run, instance }: EndedAttempt, now: string): FinishedSpan[] {
  const { state, queued_at: queuedAt, scheduled_at: scheduledAt, first_poke_at: firstPokeAt } = instance;
  const traceId = traceOfRun(run);
  const end = instance.end_date ?? now;
  // The start date of a resumed try is that of its first attempt.
  const started = firstPokeAt === null || instance.start_date === firstPokeAt ? instance.start_date : null;
  const began = started !== null && (queuedAt === null || started >= queuedAt) ? started : queuedAt;
  if (began === null || state === 'scheduled') return [];
  const attributes = {
    'svc.dag_id': instance.dag_id,
    'svc.run_id': run.run_id,
    'svc.task_id': instance.task_id,
    'svc.map_index': instance.map_index,
    'svc.try_number': instance.try_number,
  };
  const failure =
    state === 'failed' || state === 'up_for_retry' ? { failure: instance.failure_reason ?? 'failed' } : {};
  const tried = { traceId, spanId: spanOfTry(instance) };
  const attempt = { traceId, spanId: spanOfAttempt(attemptId, 'attempt') };
  const outcome = { ...attributes, 'svc.state': state ?? 'none' };
  const spans: FinishedSpan[] = [
    {
      ...attempt,
      name: 'attempt',
      parent: tried,
      start: earlier(queuedAt ?? began, began),
      end,
      ...failure,
      attributes: {
        ...outcome,
        'svc.attempt_id': attemptId,
        'svc.queue': instance.queue,
        'host.name': instance.hostname,
        ...(instance.pid !== null && { 'process.pid': instance.pid }),
      },
    },
    {
      traceId,
      spanId: spanOfAttempt(attemptId, 'body'),
      name: 'body',
      parent: attempt,
      start: began,
      end,
      ...failure,
      attributes,
    },
  ];
  if (queuedAt !== null && queuedAt < began) {
    const spanId = spanOfAttempt(attemptId, 'queued');
    spans.push({ traceId, spanId, name: 'queued', parent: attempt, start: queuedAt, end: began, attributes });
  }
  if (state !== null && ENDS.has(state)) {
    const first = firstPokeAt ?? instance.start_date ?? began;
    spans.push({
      ...tried,
      name: `task ${instance.task_id}`,
      parent: { traceId, spanId: spanOfRun(run) },
      start: earlier(scheduledAt ?? first, first),
      end,
      ...failure,
      attributes: outcome,
    });
  }
  return spans;
}

/** `causes`: runs of which this one is a consequence: those whose asset events have created it. */
export function spanOfEndedRun(run: RunRow, causes: readonly SpanIds[] = []): FinishedSpan[] {
  const { start_date: startDate, end_date: endDate, queued_at: queuedAt } = run;
  const start = queuedAt ?? startDate;
  if (start === null || endDate === null) return [];
  return [
    {
      traceId: traceOfRun(run),
      spanId: spanOfRun(run),
      name: `run ${run.dag_id}`,
      parent: parentOfRun(run),
      start: earlier(start, startDate ?? start),
      end: endDate,
      ...(run.state === 'failed' && { failure: 'the run failed' }),
      attributes: {
        'svc.dag_id': run.dag_id,
        'svc.run_id': run.run_id,
        'svc.run_type': run.run_type,
        'svc.state': run.state,
        'svc.version': run.version_number,
      },
      links: causes,
    },
  ];
}

const earlier = (one: string, other: string): string => (one < other ? one : other);
