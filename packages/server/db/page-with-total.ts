/**
 * A page of a list and how many rows there are in all, in one statement: two took two connections and twice the time that a
 * statement costs the control plane, which for a short list is most of it.
 */
import type { SelectQueryBuilder } from 'kysely';

/** `page` and `matching` are of the same rows, `page` with columns, order, limit and offset. */
export async function pageWithTotal<Db, Table extends keyof Db, Row>(
  page: SelectQueryBuilder<Db, Table, Row>,
  matching: SelectQueryBuilder<Db, Table, object>,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
  const rows = limit === 0 ? [] : await page.select(() => count.as('total')).execute();
  const [first] = rows as unknown as { total: number }[];
  if (first) return { rows: rows as unknown as Row[], total: first.total };
  // No row to carry it: there are none at all, or the page is behind the last.
  if (limit > 0 && offset === 0) return { rows: [], total: 0 };
  return { rows: [], total: ((await count.executeTakeFirstOrThrow()) as { total: number }).total };
}
