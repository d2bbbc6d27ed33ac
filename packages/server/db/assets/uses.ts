/** Which DAGs and tasks use which assets, for graphs and for pages of a schedule. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { TenantDb } from '../database.ts';

export type AssetUse = {
  dag_id: string;
  role: 'schedule' | 'outlet' | 'inlet';
  task_id: string;
  kind: 'asset' | 'asset-alias';
  id: number;
  name: string;
};

/** Ids contain neither tabs nor line ends. */
type UsesOfAsset = Pick<AssetUse, 'kind' | 'id' | 'name'> & { lines: string };

/**
 * The query has one part per way in which a reference names its asset. A single join on any of three ways would compare
 * every asset. It returns one text per asset instead of a row per use, because this process would need most of the time
 * to read the rows.
 */
export async function listAssetUses(db: TenantDb, tenantId: string): Promise<AssetUse[]> {
  const { rows } = await sql<UsesOfAsset>`
    select kind, id, name, string_agg(concat_ws(E'\\t', dag_id, role, task_id), E'\\n' order by dag_id, role, task_id) as lines
    from (
    ${sql.join(
      [
        sql`r.target = 'asset' and a.id = r.target_id`,
        sql`r.target = 'name' and a.name = r.target_text`,
        sql`r.target = 'uri' and a.uri = r.target_text`,
      ].map(
        (isNamed) => sql`
    select r.dag_id, r.role, r.task_id, 'asset' as kind, a.id, a.name from asset_references r
    join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id and not d.is_stale
    join assets a on a.tenant_id = r.tenant_id and ${isNamed}
    where r.tenant_id = ${tenantId}`,
      ),
      sql` union all `,
    )}
    union all
    select r.dag_id, r.role, r.task_id, 'asset-alias', l.id, l.name from asset_references r
    join dags d on d.tenant_id = r.tenant_id and d.dag_id = r.dag_id and not d.is_stale
    join asset_aliases l on l.tenant_id = r.tenant_id and r.target = 'alias' and l.id = r.target_id
    where r.tenant_id = ${tenantId}
    ) as used
    group by kind, id, name order by kind, id`.execute(db);
  return rows.flatMap(({ kind, id, name, lines }) =>
    lines.split('\n').map((line): AssetUse => {
      const [dagId = '', role, taskId = ''] = line.split('\t');
      return { dag_id: dagId, role: role as AssetUse['role'], task_id: taskId, kind, id, name };
    }),
  );
}

/**
 * Returns a text that changes when a DAG gets another version, disappears or returns, or when something changes that it
 * refers to. It is cheaper than reading all of that. References are written once and deleted, so their transaction ids
 * suffice. It uses sums, because rows come in any order.
 */
export async function stateOfReferences(db: TenantDb, tenantId: string): Promise<string> {
  const digest = (row: RawBuilder<unknown>, table: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`(select concat(count(*), '.', sum(hashtextextended(${row}, 0))) from ${table} where t.tenant_id = ${tenantId})`;
  const { rows } = await sql<{ state: string }>`select concat_ws(' ',
    ${digest(sql`concat_ws(' ', t.current_version, t.is_stale, t.dag_id)`, sql`dags t`)},
    ${digest(sql`t.xmin::text`, sql`asset_references t`)},
    ${digest(sql`concat_ws(' ', t.id, t.name, t.uri)`, sql`assets t`)},
    ${digest(sql`concat_ws(' ', t.id, t.name)`, sql`asset_aliases t`)}) as state`.execute(db);
  return rows[0]?.state ?? '';
}

/** `lastUpdate`: the newest event that waits for the DAG's next run. */
export type ScheduleAsset = { id: number; name: string; uri: string; lastUpdate: string | null };

/** Returns the assets that the schedule of a DAG names. */
export async function listScheduleAssets(db: TenantDb, tenantId: string, dagId: string): Promise<ScheduleAsset[]> {
  const { rows } = await sql<ScheduleAsset>`
    select a.id, a.name, a.uri, max(q.created_at) as "lastUpdate" from asset_references r
    join assets a on a.tenant_id = r.tenant_id
      and ((r.target = 'asset' and a.id = r.target_id) or (r.target = 'name' and a.name = r.target_text) or (r.target = 'uri' and a.uri = r.target_text))
    left join asset_queue q on q.tenant_id = a.tenant_id and q.asset_id = a.id and q.dag_id = r.dag_id
    where r.tenant_id = ${tenantId} and r.dag_id = ${dagId} and r.role = 'schedule'
    group by a.id, a.name, a.uri order by a.uri`.execute(db);
  return rows;
}
