import { sql } from 'kysely';
import type { TenantDb } from '../database.ts';
import type { Moment } from '../schema.ts';

/** `kind` is svc's name. Airflow's clients refuse an unknown type, so `warning_type` is one of Airflow's. */
export type DagWarningRow = {
  dag_id: string;
  warning_type: string;
  kind: string;
  message: string;
  at: Moment;
  display_name: string;
};
export type DagWarningColumn = 'dag_id' | 'warning_type' | 'message' | 'at';

export type DagWarningQuery = {
  limit: number;
  offset: number;
  order: readonly { column: DagWarningColumn; direction: 'asc' | 'desc' }[];
  dagId?: string;
  warningType?: string;
  kind?: string;
};

const AIRFLOW_TYPE = sql<string>`case when w.warning_type in ('airflow difference', 'value changed') then 'runtime varying value' else w.warning_type end`;

export async function listDagWarnings(
  db: TenantDb,
  query: DagWarningQuery,
): Promise<{ warnings: DagWarningRow[]; total: number }> {
  let matching = db.selectFrom('dag_warnings as w').innerJoin('dags', 'dags.dag_id', 'w.dag_id');
  if (query.dagId !== undefined) matching = matching.where('w.dag_id', '=', query.dagId);
  if (query.warningType !== undefined) matching = matching.where(AIRFLOW_TYPE, '=', query.warningType);
  if (query.kind !== undefined) matching = matching.where('w.warning_type', '=', query.kind);
  let page = matching
    .select(['w.dag_id', 'w.warning_type as kind', 'w.message', 'w.at', 'dags.display_name'])
    .select(AIRFLOW_TYPE.as('warning_type'))
    .limit(query.limit)
    .offset(query.offset);
  for (const { column, direction } of query.order)
    page = page.orderBy(column === 'warning_type' ? AIRFLOW_TYPE : `w.${column}`, direction);
  const [warnings, count] = await Promise.all([
    page.execute(),
    matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ]);
  return { warnings, total: count.total };
}

/** Replaces the warnings of older versions by those of the newest one. */
export async function replaceDagWarnings(
  db: TenantDb,
  dagId: string,
  warnings: readonly { type: string; message: string }[],
): Promise<void> {
  await db.deleteFrom('dag_warnings').where('dag_id', '=', dagId).execute();
  if (warnings.length === 0) return;
  await db
    .insertInto('dag_warnings')
    .values(warnings.map(({ type, message }) => ({ dag_id: dagId, warning_type: type, message })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
