/** Attempts nobody hears of any more. Agents that die are noticed at once by their executor; this is for when it died too. */
import type { Database } from '../../db/database.ts';
import type { AttemptRef, Failure } from '../shared/attempts.ts';
import { findSilentAttempts } from '../sql/attempts.ts';

/** Twelve missed heartbeats of five seconds: an agent that reconnects after a minute's outage must still find its attempt. */
export const DEFAULT_LEASE_MS = 60_000;
const AT_ONCE = 200;

/** How long attempts may be silent: those that wait for their start, and those that run. */
export type Leases = { queuedMs: number; runningMs: number };

export async function findSilent(db: Database, leases: Leases): Promise<{ ref: AttemptRef; failure: Failure }[]> {
  const rows = await findSilentAttempts(db, { ...leases, limit: AT_ONCE });
  return rows.map(({ state, ...ref }) => ({
    ref,
    failure: { cause: state === 'queued' ? 'never_started' : 'agent_lost' },
  }));
}
