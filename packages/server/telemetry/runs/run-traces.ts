/** Sends the spans of attempts and runs after their commits, while a collector receives them. */
import { nowIso } from '@svc/spec/clock.ts';
import { findCausesOfRun, findTracedRun } from '../../db/dag-runs/traced-run.ts';
import type { Database } from '../../db/database.ts';
import type { RunRow } from '../../db/schema.ts';
import type { Tracing } from '../tracing.ts';
import { spanOfEndedRun, spansOfAttempt } from './run-spans.ts';
import type { EndedAttempt } from './run-spans.ts';
import { spanOfRun, traceOfRun, traceparentOf } from './trace-ids.ts';

export type RunTraces = {
  attemptsEnded(ended: readonly EndedAttempt[]): void;
  runsEnded(ended: readonly { tenantId: string; run: number }[]): void;
  /** What a task gets as TRACEPARENT. Undefined while no collector receives spans. */
  traceparent(run: RunRow, attemptId: string): string | undefined;
};

export function createRunTraces(input: { db: Database; tracing: Pick<Tracing, 'isActive' | 'record'> }): RunTraces {
  const { db, tracing } = input;

  async function sendRun({ tenantId, run: id }: { tenantId: string; run: number }): Promise<void> {
    const scope = db.tenant(tenantId);
    const run = await findTracedRun(scope, id);
    if (!run) return; // deleted since
    const causes = run.run_type === 'asset_triggered' ? await findCausesOfRun(scope, id) : [];
    const links = causes.map((cause) => ({ traceId: traceOfRun(cause), spanId: spanOfRun(cause) }));
    tracing.record(spanOfEndedRun(run, links));
  }

  return {
    attemptsEnded(ended) {
      if (!tracing.isActive()) return;
      const now = nowIso();
      tracing.record(ended.flatMap((attempt) => spansOfAttempt(attempt, now)));
    },
    runsEnded(ended) {
      if (!tracing.isActive()) return;
      // A span that is missing does no harm, and an outage of the database is reported elsewhere.
      for (const run of ended) void sendRun(run).catch(() => {});
    },
    traceparent: (run, attemptId) => (tracing.isActive() ? traceparentOf(run, attemptId) : undefined),
  };
}
