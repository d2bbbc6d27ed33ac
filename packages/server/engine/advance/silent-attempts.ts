/**
 * Finds attempts without a heartbeat. An executor notices a dead agent at once; this covers the case that the executor
 * died too.
 */
import type { Database } from '../../db/database.ts';
import type { AttemptRef, Failure } from '../shared/attempts.ts';
import { findSilentAttempts } from '../sql/attempts.ts';

/**
 * Twelve missed heartbeats of five seconds: an agent that reconnects after an outage of a minute must still find its
 * attempt.
 */
export const DEFAULT_LEASE_MS = 60_000;
const AT_ONCE = 200;

/** How long attempts may be silent: queued ones, and running ones. */
export type Leases = { queuedMs: number; runningMs: number };

export async function findSilent(db: Database, leases: Leases): Promise<{ ref: AttemptRef; failure: Failure }[]> {
  const rows = await findSilentAttempts(db, { ...leases, limit: AT_ONCE });
  return rows.map(({ state, ...ref }) => ({
    ref,
    failure: { cause: state === 'queued' ? 'never_started' : 'agent_lost' },
  }));
}
