/**
 * Tells agents how long their lease is. Another scheduler gives up an attempt without heartbeats after
 * `scheduler.attempt_lease`. Its body must have ended by then, or it would run twice at the same time. An agent that
 * cannot reach the control plane therefore ends its tasks before the lease expires.
 *
 * If there is no other scheduler, and no network that could cut off only the agent, no process gives up attempts. Tasks
 * then continue however long the control plane is unreachable.
 */
import type { Database } from '../db/database.ts';
import { countSchedulers } from '../db/processes/heartbeats.ts';

/** Returns how many milliseconds an agent's attempts belong to it after this answer; 0: without limit. */
export type AttemptLease = () => Promise<number>;

const ASKED_EVERY_MS = 5_000;
/** Schedulers send a heartbeat every five seconds. */
const SIGN_OF_LIFE_SLACK_MS = 10_000;

export function createAttemptLease(input: {
  db: Database;
  leaseMs: number;
  /** True when agents run on other machines: the network between them and this process may fail. */
  isCutOffPossible?: boolean;
}): AttemptLease {
  const { db, leaseMs, isCutOffPossible = false } = input;
  if (isCutOffPossible) return async () => leaseMs;
  let asked: { at: number; answer: Promise<number> } | undefined;

  async function ask(): Promise<number> {
    // A scheduler that was silent for a lease must listen for a lease before it gives up attempts.
    const schedulers = await countSchedulers(db, { withinMs: leaseMs + SIGN_OF_LIFE_SLACK_MS });
    return schedulers > 1 ? leaseMs : 0;
  }

  return () => {
    const now = performance.now();
    if (!asked || now - asked.at > ASKED_EVERY_MS) {
      // On an error it assumes other schedulers, which is always safe.
      asked = { at: now, answer: ask().catch(() => leaseMs) };
    }
    return asked.answer;
  };
}
