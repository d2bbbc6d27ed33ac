/**
 * The numbers of finished runs are written as differences. Their writers merge some of them from time to time
 * (migration 0006), which leaves about sixteen rows per DAG. Lists over all DAGs must add up all of these rows.
 * Schedulers therefore merge the rest in the background, so that one row per DAG is left.
 */
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { COUNTED } from './counts.ts';

/** In one statement, so that a reader sees either the rows or their sum, never both. */
const AT_ONCE = 20_000;

const SUMS = [...COUNTED, 'runs_success', 'runs_failed'];

const list = (each: (name: string) => string, separator = ', ') => sql.raw(SUMS.map(each).join(separator));

/** Returns how many rows were merged. Rows that a writer is merging at this moment are left to it. */
export async function addUpFinishedRuns(db: Database): Promise<number> {
  const { rows } = await sql<{ taken: number }>`
    with taken as (
      delete from instances_of_finished_runs where ctid = any(array(
        select i.ctid from instances_of_finished_runs i
        where (i.tenant_id, i.dag_id) in (
          select tenant_id, dag_id from instances_of_finished_runs group by tenant_id, dag_id having count(*) > 1)
        limit ${AT_ONCE} for update skip locked
      )) returning *
    ), added as (
      insert into instances_of_finished_runs (tenant_id, dag_id, ${list((name) => name)})
        select tenant_id, dag_id, ${list((name) => `sum(${name})`)} from taken group by tenant_id, dag_id
        having ${list((name) => `sum(${name}) <> 0`, ' or ')}
    )
    select count(*)::int as taken from taken`.execute(db.shared);
  return rows[0]?.taken ?? 0;
}
