/**
 * The scheduler's side of attempts, as little of it as agents can tell: rows change state, fenced by the attempt's id, and what
 * was reported is kept for the test to look at. Can be told to lose the answers of calls it has carried out.
 */
import type { Database } from '@svc/server/db/database.ts';
import { findLiveAttempts } from '@svc/server/engine/sql/attempts.ts';
import { DatabaseUnavailableError } from '@svc/server/db/outage.ts';
import type {
  AttemptOutcome,
  AttemptRef,
  Attempts,
  Failure,
  FinishingWorker,
} from '@svc/server/engine/shared/attempts.ts';

export type RowAttempts = Attempts & {
  /** Every report that was recorded, in order. */
  readonly recorded: { attemptId: string; outcome: AttemptOutcome }[];
  readonly stale: { attemptId: string; outcome: AttemptOutcome }[];
  readonly losses: { attemptId: string; failure: Failure; hasBegun: boolean }[];
  /** Who would have gone on with another attempt, by the attempt that ended. */
  readonly workers: Map<string, FinishingWorker | undefined>;
  readonly calls: { start: number; finish: number; heartbeat: number };
  /** How many of the next calls are carried out and then not answered. */
  readonly loseAnswers: { start: number; finish: number };
  /** The next heartbeats say that these must stop. */
  readonly stopping: Set<string>;
  /** Resolves when the attempt's end was recorded, as reported or as lost. */
  ended(attemptId: string): Promise<AttemptOutcome | Failure>;
};

const LOST_ANSWER = (): DatabaseUnavailableError => new DatabaseUnavailableError(new Error('answer lost'), true);

export function createRowAttempts(db: Database): RowAttempts {
  const ends = new Map<string, PromiseWithResolvers<AttemptOutcome | Failure>>();
  const endOf = (attemptId: string): PromiseWithResolvers<AttemptOutcome | Failure> => {
    const known = ends.get(attemptId) ?? Promise.withResolvers<AttemptOutcome | Failure>();
    ends.set(attemptId, known);
    return known;
  };
  const current = (ref: AttemptRef) =>
    db
      .tenant(ref.tenantId)
      .updateTable('task_instances')
      .where('run', '=', ref.run)
      .where('task_id', '=', ref.taskId)
      .where('map_index', '=', ref.mapIndex)
      .where('attempt_id', '=', ref.attemptId);

  const attempts: RowAttempts = {
    recorded: [],
    stale: [],
    losses: [],
    workers: new Map(),
    calls: { start: 0, finish: 0, heartbeat: 0 },
    loseAnswers: { start: 0, finish: 0 },
    stopping: new Set(),
    ended: (attemptId) => endOf(attemptId).promise,

    async start(ref, { hostname, pid }) {
      attempts.calls.start += 1;
      const instance = await current(ref)
        .where('state', 'in', ['queued', 'running'])
        .set({ state: 'running', hostname, pid, start_date: new Date() })
        .returningAll()
        .executeTakeFirst();
      if (attempts.loseAnswers.start-- > 0) throw LOST_ANSWER();
      if (!instance) return { kind: 'stop', reason: 'not the current attempt' };
      const scoped = db.tenant(ref.tenantId);
      const run = await scoped.selectFrom('dag_runs').selectAll().where('id', '=', ref.run).executeTakeFirstOrThrow();
      return { kind: 'started', run, instance };
    },

    async finish(ref, outcome) {
      return (await attempts.finishAndTakeNext(ref, outcome, {})).answer;
    },

    async finishAndTakeNext(ref, outcome, { beforeCommit, worker }) {
      await beforeCommit;
      attempts.workers.set(ref.attemptId, worker);
      attempts.calls.finish += 1;
      const state = outcome.state === 'reschedule' ? 'up_for_reschedule' : outcome.state;
      const row = await current(ref)
        .where('state', '=', 'running')
        .set({ state, failure_reason: outcome.failure?.cause ?? null })
        .returning('task_id')
        .executeTakeFirst();
      (row ? attempts.recorded : attempts.stale).push({ attemptId: ref.attemptId, outcome });
      if (row) endOf(ref.attemptId).resolve(outcome);
      if (attempts.loseAnswers.finish-- > 0) throw LOST_ANSWER();
      return { answer: row ? 'recorded' : 'stale' };
    },

    async heartbeat(refs) {
      attempts.calls.heartbeat += 1;
      const ids = refs.map((ref) => ref.attemptId);
      const live = await findLiveAttempts(db, refs);
      return new Set(ids.filter((id) => attempts.stopping.has(id) || !live.has(id)));
    },

    async lost(ref, failure, { hasBegun } = { hasBegun: true }) {
      await current(ref).set({ state: 'failed', failure_reason: failure.cause }).execute();
      attempts.losses.push({ attemptId: ref.attemptId, failure, hasBegun });
      endOf(ref.attemptId).resolve(failure);
    },

    triggererLost: async () => {},
    findLive: (refs) => findLiveAttempts(db, refs),
    noteWait: async () => {},
  };
  return attempts;
}
