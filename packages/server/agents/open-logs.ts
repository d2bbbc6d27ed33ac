/**
 * Decides which attempts may write to their logs. Their credentials are valid for minutes after their ends, and late
 * lines would appear as part of the try.
 *
 *   current         writes
 *   finished        wrote its last lines with its outcome. If its process had not ended by then, it may write for some
 *                   seconds more (an exit handler prints, a buffer is flushed). Its agent must have said so with the
 *                   outcome, and the try must not continue with another attempt (rescheduled, deferred)
 *   ended by others (marked, cleared, timed out) writes while its process is being ended, so that the log shows why
 *   everything else writes nothing
 *
 * For the lines that come with the outcome, an attempt that was current a moment ago counts as current. This saves a
 * query between two tasks.
 */
import { LRUCache } from 'lru-cache';
import { findAgeOfEnd, isCallbackRunning, isTaskRunning } from '../db/attempts/live-attempts.ts';
import type { Database } from '../db/database.ts';
import type { AttemptIdentity } from './credentials.ts';

export type OpenLogs = {
  /** Notes that it is the current attempt now. */
  seen(attemptId: string): void;
  /** Notes that its outcome was recorded, or refused as stale. */
  finished(attemptId: string, options: { logGoesOn: boolean }): void;
  mayWrite(identity: AttemptIdentity): Promise<boolean>;
  /** For the lines that come with its outcome. */
  mayWriteLast(identity: AttemptIdentity): Promise<boolean>;
};

/** Heartbeats come every five seconds. */
const BELIEVED_MS = 10_000;
/** A process that remains after its result is ended after five seconds, and killed after five more. */
const AFTER_OUTCOME_MS = 15_000;
/** An attempt learns of its end with a heartbeat, and its process has some seconds to end. */
const AFTER_OTHERS_MS = 30_000;
const REMEMBERED = 100_000;

/** Either the attempt was current at `seenAt`, or it has finished and its log accepts lines until `openUntil`. */
type Known = { seenAt: number } | { openUntil: number };

export function createOpenLogs({ db, now = () => performance.now() }: { db: Database; now?: () => number }): OpenLogs {
  // Entries are never deleted, because an LRUCache that becomes empty clears all its space. In a chain that would
  // happen at each task.
  const known = new LRUCache<string, Known>({ max: REMEMBERED });

  async function isCurrent(identity: AttemptIdentity): Promise<boolean> {
    const scoped = db.tenant(identity.tenantId);
    return identity.kind === 'callback'
      ? isCallbackRunning(scoped, identity.attemptId)
      : isTaskRunning(scoped, identity);
  }

  async function mayWrite(identity: AttemptIdentity): Promise<boolean> {
    if (identity.kind === 'triggerer') return true; // its lines go to the log of the control plane
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
      // Only the first report counts: a repeated one does not open the log again.
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
