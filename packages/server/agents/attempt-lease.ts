/**
 * What an agent is told about its lease. Another scheduler takes an attempt over when nothing was heard of it for
 * `scheduler.attempt_lease`; by then its body must have ended, or it would run twice at the same time. So an agent that
 * cannot reach us ends its tasks before the lease does. Where there is no other scheduler, and no network that could cut off
 * the agent alone, nobody takes anything over: then tasks go on, however long we are away.
 */
import type { Database } from '../db/database.ts';
import { countSchedulers } from '../db/processes/heartbeats.ts';

/** Milliseconds that the attempts of an agent are its own after this answer; 0: as long as it likes. */
export type AttemptLease = () => Promise<number>;

const ASKED_EVERY_MS = 5_000;
/** Schedulers give a sign of life every five seconds. */
const SIGN_OF_LIFE_SLACK_MS = 10_000;

export function createAttemptLease(input: {
  db: Database;
  leaseMs: number;
  /** Agents are on other machines: we may be there and miss them, while they miss us. */
  isCutOffPossible?: boolean;
}): AttemptLease {
  const { db, leaseMs, isCutOffPossible = false } = input;
  if (isCutOffPossible) return async () => leaseMs;
  let asked: { at: number; answer: Promise<number> } | undefined;

  async function ask(): Promise<number> {
    // One that was not seen for a lease has to listen for as long before it takes anything over.
    const schedulers = await countSchedulers(db, { withinMs: leaseMs + SIGN_OF_LIFE_SLACK_MS });
    return schedulers > 1 ? leaseMs : 0;
  }

  return () => {
    const now = performance.now();
    if (!asked || now - asked.at > ASKED_EVERY_MS) {
      // Not known: as if there were others, which is never wrong.
      asked = { at: now, answer: ask().catch(() => leaseMs) };
    }
    return asked.answer;
  };
}
