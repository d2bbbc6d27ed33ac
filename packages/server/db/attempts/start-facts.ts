/**
 * Reads what a starting attempt needs in addition to its own rows:
 *
 *   - values of its upstream tasks, and the number of instances of mapped ones;
 *   - the last successful run before its own;
 *   - a stamp that changes with every change of a variable or connection.
 *
 * One statement serves all attempts of a tenant that start together. Query plan: one index lookup per upstream task
 * (xcoms by primary key) and one per mapped upstream (the highest map_index, from the end of the primary key). For the
 * previous run it walks back along dag_runs_by_logical_date to the first success. The cost does not grow with the size
 * of the run.
 */
import type { Kysely } from 'kysely';
import type { SharedDb } from '../database.ts';
import { fixedSql } from '../fixed-sql.ts';

export type FactsQuery = {
  run: number;
  dagId: string;
  /** Tasks with one instance, whose return values are read. */
  single: readonly string[];
  /** Tasks whose instances are counted. */
  mapped: readonly string[];
};

export type StartFacts = {
  /** JSON text. Null when the value is too large to be included. */
  values: ReadonlyMap<string, string | null>;
  lengths: Record<string, number>;
  previous: Record<PreviousField, string | null>;
  /**
   * Differs when any variable or connection of the tenant differs: every change increases a counter, with its commit.
   * Times of change would not do, because the transaction that began first may commit last.
   */
  vaultStamp: string;
};

type PreviousField =
  | 'start_date_success'
  | 'end_date_success'
  | 'data_interval_start_success'
  | 'data_interval_end_success';

/** The task fetches larger values on access. */
const MAX_VALUE_BYTES = 64 * 1024;
/**
 * How many runs back the last successful one is looked for. Without a limit, a DAG that never succeeds would cost more
 * with every run.
 */
const MAX_RUNS_BACK = 200;

type Row = {
  values: { task_id: string; value: string | null }[];
  lengths: Record<string, number | null>;
  vault_stamp: string;
} & Record<PreviousField, string | null>;

type Wanted = { tenantId: string; query: FactsQuery };

/** Returns facts in the order of `wanted`. Sends one statement per tenant before its first await. */
export async function readFacts(
  trx: SharedDb,
  wanted: readonly (Wanted | undefined)[],
): Promise<(StartFacts | undefined)[]> {
  const byTenant = Map.groupBy(
    wanted.filter((one) => one !== undefined),
    ({ tenantId }) => tenantId,
  );
  const found = new Map<Wanted, StartFacts | undefined>();
  await Promise.all(
    [...byTenant].map(async ([tenantId, own]) => {
      const facts = await readTenantFacts(
        trx,
        tenantId,
        own.map(({ query }) => query),
      );
      own.forEach((one, index) => found.set(one, facts[index]));
    }),
  );
  return wanted.map((one) => one && found.get(one));
}

/** Returns facts in the order of the queries. */
export async function readTenantFacts<Tables>(
  db: Kysely<Tables>,
  tenantId: string,
  queries: readonly FactsQuery[],
): Promise<StartFacts[]> {
  const input = queries.map(({ run, dagId, single, mapped }, i) => ({ i, run, dag_id: dagId, single, mapped }));
  const { rows } = await fixedSql<Row>`
    select
      (select coalesce(json_agg(json_build_object('task_id', x.task_id,
          'value', case when x.stored is null and octet_length(x.value) <= ${MAX_VALUE_BYTES} then x.value end)), '[]')
        from xcoms x where x.tenant_id = ${tenantId}::uuid and x.run = k.run and x.map_index = -1 and x.key = 'return_value'
          and x.task_id in (select jsonb_array_elements_text(k.single))) as values,
      (select coalesce(json_object_agg(m.id, (
          select t.map_index + 1 from task_instances t
          where t.tenant_id = ${tenantId}::uuid and t.run = k.run and t.task_id = m.id and t.state is distinct from 'removed'
          order by t.map_index desc limit 1)), '{}')
        from jsonb_array_elements_text(k.mapped) as m(id)) as lengths,
      p.start_date as start_date_success, p.end_date as end_date_success,
      p.data_interval_start as data_interval_start_success, p.data_interval_end as data_interval_end_success,
      (select coalesce(sum(changes), 0)::text from vault_changes where tenant_id = ${tenantId}::uuid) as vault_stamp
    from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as k(i int, run bigint, dag_id text, single jsonb, mapped jsonb)
    left join dag_runs own on own.tenant_id = ${tenantId}::uuid and own.id = k.run
    left join lateral (
      select * from (
        select r.state, r.start_date, r.end_date, r.data_interval_start, r.data_interval_end from dag_runs r
        where r.tenant_id = ${tenantId}::uuid and r.dag_id = k.dag_id and r.logical_date < own.logical_date
        order by r.logical_date desc limit ${MAX_RUNS_BACK}
      ) earlier where earlier.state = 'success' limit 1
    ) p on true
    order by k.i`.execute(db);
  return rows.map(factsOf);
}

function factsOf({ values, lengths, vault_stamp: vaultStamp, ...previous }: Row): StartFacts {
  return {
    values: new Map(values.map(({ task_id: taskId, value }) => [taskId, value])),
    lengths: Object.fromEntries(Object.entries(lengths).map(([taskId, length]) => [taskId, length ?? 0])),
    previous,
    vaultStamp,
  };
}
