/**
 * What an agent is told about its lease. Another scheduler takes an attempt over when nothing was heard of it for
 * `scheduler.attempt_lease`; by then its body must have ended, or it would run twice at the same time. So an agent that
 * cannot reach us ends its tasks before the lease does. Where there is no other scheduler nobody takes anything over: then
 * tasks go on, however long we are away.
 */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** Milliseconds that the attempts of an agent are its own after this answer; 0: as long as it likes. */
export type AttemptLease = () => Promise<number>;

const ASKED_EVERY_MS = 5_000;
/** Schedulers say that they live every five seconds. */
const SIGN_OF_LIFE_SLACK_MS = 10_000;

export function createAttemptLease({ db, leaseMs }: { db: Database; leaseMs: number }): AttemptLease {
  let asked: { at: number; answer: Promise<number> } | undefined;

  async function ask(): Promise<number> {
    // One that was not seen for a lease has to listen for as long before it takes anything over.
    const seconds = (leaseMs + SIGN_OF_LIFE_SLACK_MS) / 1_000;
    const { rows } = await sql<{ schedulers: number }>`
      select count(*)::int as schedulers from heartbeats
      where component = 'scheduler' and stopped_at is null and last_seen_at > now() - make_interval(secs => ${seconds})`.execute(
      db.shared,
    );
    return (rows[0]?.schedulers ?? 0) > 1 ? leaseMs : 0;
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
