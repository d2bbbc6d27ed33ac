/**
 * Reads a page of a list and the total number of rows in one statement. Two statements would take two connections and
 * twice the overhead, which is most of the cost of a short list.
 */
import type { SelectQueryBuilder } from 'kysely';

/** `page` and `matching` select the same rows; `page` has columns, order, limit and offset. */
export async function pageWithTotal<Db, Table extends keyof Db, Row>(
  page: SelectQueryBuilder<Db, Table, Row>,
  matching: SelectQueryBuilder<Db, Table, object>,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: Row[]; total: number }> {
  const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
  const rows = limit === 0 ? [] : await page.select(() => count.as('total')).execute();
  const [first] = rows as unknown as { total: number }[];
  if (first) return { rows: rows as unknown as Row[], total: first.total };
  // No row carries the total: there are no rows at all, or the page is after the last.
  if (limit > 0 && offset === 0) return { rows: [], total: 0 };
  return { rows: [], total: ((await count.executeTakeFirstOrThrow()) as { total: number }).total };
}
