/** One process at a time removes old runs: a scheduler, or a command on the host. */
import { sql } from 'kysely';
import type { SharedDb } from '../database.ts';
import type { Moment } from '../schema.ts';

/** Renewed with every batch. After a process has died, it excludes the others for this long. */
const LEASE_SECONDS = 60;

export type PruneLease =
  | { kind: 'taken' }
  | { kind: 'busy'; holder: string; until: Moment }
  | { kind: 'done'; at: Moment };

/** `everyMs`: returns `done` when any process has finished within this time. */
export async function takePruneLease(
  db: SharedDb,
  input: { by: string; holder: string; everyMs?: number },
): Promise<PruneLease> {
  const { by, holder, everyMs = 0 } = input;
  const { numAffectedRows = 0n } = await sql`
    update prune_state set lease_by = ${by}::uuid, lease_holder = ${holder},
      lease_until = clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'
    where (lease_until is null or lease_until <= clock_timestamp() or lease_by = ${by}::uuid)
      and (${everyMs}::float8 = 0 or finished_at is null
        or finished_at <= clock_timestamp() - ${everyMs}::float8 * interval '1 ms')`.execute(db);
  if (numAffectedRows > 0n) return { kind: 'taken' };
  const state = await db.selectFrom('prune_state').selectAll().executeTakeFirstOrThrow();
  if (state.lease_until !== null && new Date(state.lease_until) > new Date())
    return { kind: 'busy', holder: state.lease_holder ?? '', until: state.lease_until };
  return { kind: 'done', at: state.finished_at ?? '' };
}

/**
 * Returns false when another process has the lease now. Called in the transaction of a batch, so that only one process
 * removes runs.
 */
export async function renewPruneLease(trx: SharedDb, by: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update prune_state set lease_until = clock_timestamp() + ${LEASE_SECONDS} * interval '1 second'
    where lease_by = ${by}::uuid`.execute(trx);
  return numAffectedRows > 0n;
}

/** `isFinished`: nothing is left to remove. Otherwise the next process continues. */
export async function releasePruneLease(
  db: SharedDb,
  by: string,
  { isFinished }: { isFinished: boolean },
): Promise<void> {
  await sql`
    update prune_state set lease_by = null, lease_holder = null, lease_until = null,
      finished_at = case when ${isFinished}::boolean then clock_timestamp() else finished_at end
    where lease_by = ${by}::uuid`.execute(db);
}
