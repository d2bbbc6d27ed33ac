import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * In addition to the instances of finished runs (migration 0006), how many runs of a DAG have succeeded and failed.
 * This is the total of a list of runs, because counting them takes longer than reading the page.
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
const SUMS = [...COUNTED, 'runs_success', 'runs_failed'];
const columns = (each: (name: string) => string, separator = ', '): string => SUMS.map(each).join(separator);
const numberOf = (counts: string, name: string): string => `coalesce((${counts} ->> '${name}')::bigint, 0)`;
/** The run as one of the counts, so that a run in a state counts like an instance in one. */
const countsWithRun = (row: string): string => `${row}.state_counts || jsonb_build_object('runs_' || ${row}.state, 1)`;

const STATEMENTS = [
  `alter table instances_of_finished_runs
    add column runs_success bigint not null default 0, add column runs_failed bigint not null default 0`,
  `insert into instances_of_finished_runs (tenant_id, dag_id, ${columns((name) => name)})
    select tenant_id, dag_id, ${COUNTED.map(() => '0').join(', ')},
      count(*) filter (where state = 'success'), count(*) filter (where state = 'failed')
    from dag_runs where state in ('success', 'failed') group by tenant_id, dag_id`,
  `create or replace function count_finished_run() returns trigger language plpgsql as $$
    declare
      before jsonb := '{}';
      after jsonb := '{}';
      run dag_runs;
      fresh bigint;
    begin
      if tg_op = 'DELETE' then run := old; else run := new; end if;
      if tg_op <> 'INSERT' and old.state in ('success', 'failed') then before := ${countsWithRun('old')}; end if;
      if tg_op <> 'DELETE' and new.state in ('success', 'failed') then after := ${countsWithRun('new')}; end if;
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
];
