/**
 * Which bundles are due, and which process syncs each of them.
 *
 *   due (asked for, or its time has come) ──claim──▶ running, with a lease ──settle──▶ done | refused | failed
 *                                                        │ the lease runs out: another process takes it
 */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Database, TenantDb } from '../database.ts';
import type { TenantTables } from '../schema.ts';
import type { BundleProblem, SyncState } from '../tables/bundles.ts';

export type LeasedBundle = Selectable<TenantTables['bundles']>;

const LEASE_SECONDS = 30;

/**
 * Takes the lease of the due bundle that was looked at the longest time ago, so that no bundle waits for others that
 * are due all the time.
 */
export async function claimDueBundle(
  db: Database,
  { holder, without }: { holder: string; /** Tenants whose bundles wait. */ without: readonly string[] },
): Promise<LeasedBundle | undefined> {
  const due = db.shared
    .selectFrom('bundles as b')
    .innerJoin('tenants as t', 't.id', 'b.tenant_id')
    .select(['b.tenant_id', 'b.name'])
    .where('t.disabled_at', 'is', null)
    .where(sql<boolean>`(b.asked > b.answered or b.next_check_at <= now())`)
    .where(sql<boolean>`(b.lease_until is null or b.lease_until < now())`)
    .where(sql<boolean>`b.tenant_id <> all(${[...without]}::uuid[])`)
    .orderBy('b.checked_at', (order) => order.asc().nullsFirst())
    .limit(1)
    .forUpdate('b')
    .skipLocked();
  return db.shared
    .updateTable('bundles')
    .from(due.as('due'))
    .set({
      lease_holder: holder,
      lease_until: sql`now() + ${LEASE_SECONDS} * interval '1 second'`,
      sync_state: 'running',
      sync_text: '',
    })
    .whereRef('bundles.tenant_id', '=', 'due.tenant_id')
    .whereRef('bundles.name', '=', 'due.name')
    .returningAll('bundles')
    .executeTakeFirst();
}

/** Keeps the lease and shows the progress. Returns false when another process has it, or the bundle is gone. */
export async function renewLease(
  db: TenantDb,
  { name, holder, text }: { name: string; holder: string; text: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('bundles')
    .set({ lease_until: sql`now() + ${LEASE_SECONDS} * interval '1 second'`, sync_text: text })
    .where('name', '=', name)
    .where('lease_holder', '=', holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export type SyncEnd = {
  name: string;
  holder: string;
  /** `next_check_at` as the lease was taken. A webhook has changed it since: then it is due again. */
  claimedCheckAt: string;
  /** The request that this sync answers. */
  answered: number;
  state: SyncState;
  text: string;
  /** Undefined: the source could not be looked at. */
  seenVersion?: string | undefined;
  /** Undefined: keeps what was reported before. */
  problems?: { version: string; list: readonly BundleProblem[] } | null | undefined;
  /** Undefined: only when it is asked for. */
  nextCheckSeconds: number | undefined;
};

/** Gives the lease back. Changes nothing when another process has it. */
export async function settleSync(db: TenantDb, end: SyncEnd): Promise<boolean> {
  const { problems } = end;
  const { numUpdatedRows } = await db
    .updateTable('bundles')
    .set({
      lease_holder: null,
      lease_until: null,
      sync_state: end.state,
      sync_text: end.text,
      answered: end.answered,
      checked_at: sql`now()`,
      next_check_at: sql`case when next_check_at <> ${end.claimedCheckAt}::timestamptz then next_check_at else ${
        end.nextCheckSeconds === undefined
          ? sql`'infinity'::timestamptz`
          : sql`now() + ${end.nextCheckSeconds} * interval '1 second'`
      } end`,
      failures: end.state === 'failed' ? sql`failures + 1` : 0,
      ...(end.seenVersion !== undefined && { seen_version: end.seenVersion }),
      ...(problems !== undefined && {
        problems: problems === null ? null : JSON.stringify(problems.list),
        problem_version: problems?.version ?? null,
      }),
    })
    .where('name', '=', end.name)
    .where('lease_holder', '=', end.holder)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Lets another process continue at once. For the end of this process. */
export const releaseLeases = (db: Database, holder: string): Promise<unknown> =>
  db.shared
    .updateTable('bundles')
    .set({ lease_holder: null, lease_until: null, sync_state: 'waiting', sync_text: '' })
    .where('lease_holder', '=', holder)
    .execute();
