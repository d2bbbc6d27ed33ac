/**
 * Returns how many entries of the audit log match, without counting all of them for every page. Entries never change,
 * so those that were counted once stay counted, and only newer ones are counted again.
 *
 *   settled    so old that no new entry can appear before them: every transaction from that time has ended
 *   since      counted each time
 *
 * Retention removes the oldest entries. After that, and after some minutes in any case, all are counted again.
 */
import { LRUCache } from 'lru-cache';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';

export type AuditTotals = {
  /** `conditions` are over `a`. `key` separates them from others. */
  count(
    db: TenantDb,
    asked: { tenantId: string; conditions: readonly RawBuilder<boolean>[]; key: string },
  ): Promise<number>;
};

/** Longer than any transaction lives, because statements and idle transactions are ended before. */
const SETTLED_AFTER = sql`interval '10 minutes'`;
const COUNTED_AGAIN_MS = 10 * 60_000;
const KEPT = 1_000;
/** A longer filter is not cached. */
const LONGEST_KEPT = 500;

/** `upTo`: the id of the newest settled entry. `oldest`: the id of the first entry at that time. */
type Counted = { upTo: number; total: number; oldest: number | null; at: number };
type Count = { total: number; settled: number; upTo: number; oldest: number | null };

export function createAuditTotals(): AuditTotals {
  const kept = new LRUCache<string, Counted>({ max: KEPT });
  return {
    async count(db, { tenantId, conditions, key }) {
      const name = `${tenantId}/${key}`;
      const known = kept.get(name);
      if (known && performance.now() - known.at < COUNTED_AGAIN_MS) {
        const since = await countSince(db, { tenantId, conditions, upTo: known.upTo });
        if (since.oldest === known.oldest) return known.total + since.total;
      }
      const at = performance.now();
      const { total, settled, upTo, oldest } = await countSince(db, { tenantId, conditions, upTo: 0 });
      if (name.length <= LONGEST_KEPT) kept.set(name, { upTo, total: settled, oldest, at });
      return total;
    },
  };
}

/**
 * Query plan: audit_log_newest for the two ends, the primary key for newer entries; all entries when nothing was
 * counted before.
 */
async function countSince(
  db: TenantDb,
  input: { tenantId: string; conditions: readonly RawBuilder<boolean>[]; upTo: number },
): Promise<Count> {
  const { tenantId, conditions, upTo } = input;
  const { rows } = await sql<Count>`
    with ends as materialized (
      select coalesce((select e.id from audit_log e where e.tenant_id = ${tenantId} and e.at < now() - ${SETTLED_AFTER}
          order by e.at desc, e.id desc limit 1), 0) as "upTo",
        (select e.id from audit_log e where e.tenant_id = ${tenantId} order by e.at, e.id limit 1) as oldest
    )
    select count(a.id) as total, count(a.id) filter (where a.id <= ends."upTo") as settled, ends."upTo", ends.oldest
    from ends left join audit_log a on a.tenant_id = ${tenantId} and a.id > ${upTo} ${sql.join(
      conditions.map((condition) => sql`and ${condition}`),
      sql` `,
    )}
    group by ends."upTo", ends.oldest`.execute(db);
  return rows[0] ?? { total: 0, settled: 0, upTo: 0, oldest: null };
}
