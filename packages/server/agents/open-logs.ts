/**
 * Which attempts may write to their logs. Their credentials live for minutes after their ends, and what is written then would
 * be read as part of the try.
 *
 *   current         writes
 *   finished        wrote its last lines with its outcome. When its process had not ended by then it may write for some seconds
 *                   more (an exit handler prints, a buffer is flushed), if its agent has said so with the outcome
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
const REMEMBERED = 50_000;

export function createOpenLogs({ db, now = () => performance.now() }: { db: Database; now?: () => number }): OpenLogs {
  const seenAt = new LRUCache<string, number>({ max: REMEMBERED });
  /** By attempt: until when the log of one that has finished takes lines. */
  const finished = new LRUCache<string, number>({ max: REMEMBERED });

  async function isCurrent(identity: AttemptIdentity): Promise<boolean> {
    const scoped = db.tenant(identity.tenantId);
    return identity.kind === 'callback'
      ? isCallbackRunning(scoped, identity.attemptId)
      : isTaskRunning(scoped, identity);
  }

  async function mayWrite(identity: AttemptIdentity): Promise<boolean> {
    if (identity.kind === 'triggerer') return true; // its lines go to our own log
    const until = finished.get(identity.attemptId);
    if (until !== undefined) return now() < until;
    if (await isCurrent(identity)) return true;
    if (identity.kind === 'callback') return false;
    const age = await findAgeOfEnd(db.tenant(identity.tenantId), identity);
    return age !== undefined && age < AFTER_OTHERS_MS;
  }

  return {
    seen(attemptId) {
      if (!finished.has(attemptId)) seenAt.set(attemptId, now());
    },
    finished(attemptId, { logGoesOn }) {
      seenAt.delete(attemptId);
      // The first word counts: a report that is made again does not open the log again.
      if (!finished.has(attemptId)) finished.set(attemptId, logGoesOn ? now() + AFTER_OUTCOME_MS : 0);
    },
    mayWrite,
    async mayWriteLast(identity) {
      const wasSeen = now() - (seenAt.get(identity.attemptId) ?? -Infinity) < BELIEVED_MS;
      return wasSeen || mayWrite(identity);
    },
  };
}
