import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * What lists of task instances need in addition to the rows:
 *
 *   - How many instances all finished runs of a DAG have, by state, because adding up all runs takes too long for a
 *     page. A process that ends, changes or deletes a run writes a row of differences, so that two of them never wait
 *     for each other. From time to time such a process merges some of the rows.
 *   - The few instances that did not succeed, by state, of all DAGs and of one.
 *   - Runs of a DAG in the order of their creation, in which lists show their instances.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

/** The keys of `dag_runs.state_counts`. */
const COUNTED = [
  'none',
  'live',
  'up_for_retry',
  'up_for_reschedule',
  'success',
  'failed',
  'upstream_failed',
  'skipped',
  'removed',
];
const columns = (each: (name: string) => string, separator = ', '): string => COUNTED.map(each).join(separator);
const numberOf = (counts: string, name: string): string => `coalesce((${counts} ->> '${name}')::bigint, 0)`;

const STATEMENTS = [
  `create table instances_of_finished_runs (
    tenant_id uuid not null,
    dag_id text not null,
    id bigint generated always as identity,
    ${columns((name) => `${name} bigint not null`)},
    primary key (tenant_id, dag_id, id)
  )`,
  `insert into instances_of_finished_runs (tenant_id, dag_id, ${columns((name) => name)})
    select tenant_id, dag_id, ${columns((name) => `sum(${numberOf('state_counts', name)})`)}
    from dag_runs where state in ('success', 'failed') group by tenant_id, dag_id`,
  `create function count_finished_run() returns trigger language plpgsql as $$
    declare
      before jsonb := '{}';
      after jsonb := '{}';
      run dag_runs;
      fresh bigint;
    begin
      if tg_op = 'DELETE' then run := old; else run := new; end if;
      if tg_op <> 'INSERT' and old.state in ('success', 'failed') then before := old.state_counts; end if;
      if tg_op <> 'DELETE' and new.state in ('success', 'failed') then after := new.state_counts; end if;
      insert into instances_of_finished_runs (tenant_id, dag_id, ${columns((name) => name)})
        values (run.tenant_id, run.dag_id, ${columns((name) => `${numberOf('after', name)} - ${numberOf('before', name)}`)})
        returning id into fresh;
      if fresh % 32 = 0 then
        with taken as (
          delete from instances_of_finished_runs where ctid = any(array(
            select ctid from instances_of_finished_runs
            where tenant_id = run.tenant_id and dag_id = run.dag_id limit 1000 for update skip locked
          )) returning *
        )
        insert into instances_of_finished_runs (tenant_id, dag_id, ${columns((name) => name)})
          select run.tenant_id, run.dag_id, ${columns((name) => `sum(${name})`)} from taken
          having ${columns((name) => `sum(${name}) <> 0`, ' or ')};
      end if;
      return null;
    end
  $$`,
  `create trigger count_finished_run_inserted after insert on dag_runs for each row
    when (new.state in ('success', 'failed')) execute function count_finished_run()`,
  `create trigger count_finished_run_deleted after delete on dag_runs for each row
    when (old.state in ('success', 'failed')) execute function count_finished_run()`,
  `create trigger count_finished_run_changed after update of state, state_counts on dag_runs for each row
    when ((old.state in ('success', 'failed') or new.state in ('success', 'failed'))
      and (old.state, old.state_counts) is distinct from (new.state, new.state_counts))
    execute function count_finished_run()`,
  `create index task_instances_by_state on task_instances (tenant_id, state, run, task_id, map_index)
    where state in ('failed', 'upstream_failed', 'skipped', 'removed')`,
  `create index task_instances_of_dag_by_state on task_instances (tenant_id, dag_id, state, run, task_id, map_index)
    where state in ('failed', 'upstream_failed', 'skipped', 'removed')`,
  `create index dag_runs_of_dag on dag_runs (tenant_id, dag_id, id)`,
];
