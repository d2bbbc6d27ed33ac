/**
 * Which attempts may write to their logs. Their credentials live for minutes after their ends, and what is written then would
 * be read as part of the try.
 *
 *   current         writes
 *   finished        wrote its last lines with its outcome. When its process had not ended by then it may write for some seconds
 *                   more (an exit handler prints, a buffer is flushed), if its agent has said so with the outcome; not when
 *                   its try goes on with another attempt (rescheduled, deferred)
 *   ended by others (marked, cleared, timed out) writes while its process is being ended: its last words say what became of it
 *   everything else writes nothing
 *
 * With its outcome, an attempt that was just seen to be the current one is believed to be it still: between two tasks no
 * question to the database is cheap.
 */
import { LRUCache } from 'lru-cache';
import { findAgeOfEnd, isCallbackRunning, isTaskRunning } from '../db/attempts/live-attempts.ts';
import type { Database } from '../db/database.ts';
import type { AttemptIdentity } from './credentials.ts';

export type OpenLogs = {
  /** It was the current attempt just now. */
  seen(attemptId: string): void;
  /** Its outcome was taken, or refused as stale. */
  finished(attemptId: string, options: { logGoesOn: boolean }): void;
  mayWrite(identity: AttemptIdentity): Promise<boolean>;
  /** The lines that come with its outcome. */
  mayWriteLast(identity: AttemptIdentity): Promise<boolean>;
};

/** Heartbeats come every five seconds. */
const BELIEVED_MS = 10_000;
/** A process that lingers after its result is ended after five seconds, and killed after five more. */
const AFTER_OUTCOME_MS = 15_000;
/** An attempt learns of its end with a heartbeat, and its process is given some seconds to leave. */
const AFTER_OTHERS_MS = 30_000;
const REMEMBERED = 100_000;

/** An attempt was the current one when it was seen, or has finished and its log takes lines until then. */
type Known = { seenAt: number } | { openUntil: number };

export function createOpenLogs({ db, now = () => performance.now() }: { db: Database; now?: () => number }): OpenLogs {
  // Nothing is taken out: without its last entry this cache empties all its room, 0.1 ms for each task of a chain.
  const known = new LRUCache<string, Known>({ max: REMEMBERED });

  async function isCurrent(identity: AttemptIdentity): Promise<boolean> {
    const scoped = db.tenant(identity.tenantId);
    return identity.kind === 'callback'
      ? isCallbackRunning(scoped, identity.attemptId)
      : isTaskRunning(scoped, identity);
  }

  async function mayWrite(identity: AttemptIdentity): Promise<boolean> {
    if (identity.kind === 'triggerer') return true; // its lines go to our own log
    const attempt = known.get(identity.attemptId);
    if (attempt && 'openUntil' in attempt) return now() < attempt.openUntil;
    if (await isCurrent(identity)) return true;
    if (identity.kind === 'callback') return false;
    const age = await findAgeOfEnd(db.tenant(identity.tenantId), identity);
    return age !== undefined && age < AFTER_OTHERS_MS;
  }

  const hasFinished = (attemptId: string): boolean => 'openUntil' in (known.get(attemptId) ?? {});

  return {
    seen(attemptId) {
      if (!hasFinished(attemptId)) known.set(attemptId, { seenAt: now() });
    },
    finished(attemptId, { logGoesOn }) {
      // The first word counts: a report that is made again does not open the log again.
      if (!hasFinished(attemptId)) known.set(attemptId, { openUntil: logGoesOn ? now() + AFTER_OUTCOME_MS : 0 });
    },
    mayWrite,
    async mayWriteLast(identity) {
      const attempt = known.get(identity.attemptId);
      const wasSeen = attempt && 'seenAt' in attempt && now() - attempt.seenAt < BELIEVED_MS;
      return wasSeen || mayWrite(identity);
    },
  };
}
