import { queryDatabase } from '../postgres/query-database.ts';

/** Every change of a state, whoever makes it, and every start with an insert: the tables themselves only know the last one. */
export async function recordTransitions(databaseUrl: string): Promise<void> {
  await queryDatabase(
    databaseUrl,
    `create table chaos_transitions (
      at bigint generated always as identity, run bigint not null, task_id text, map_index int, was text, became text,
      attempt_id uuid, try_number int
    );
    create function chaos_record_task() returns trigger language plpgsql security definer as $$
    begin
      insert into chaos_transitions (run, task_id, map_index, was, became, attempt_id, try_number)
      values (new.run, new.task_id, new.map_index, case when tg_op = 'UPDATE' then old.state end, new.state,
        new.attempt_id, new.try_number);
      return null;
    end $$;
    create trigger chaos_record after update on task_instances for each row
      when (old.state is distinct from new.state) execute function chaos_record_task();
    create trigger chaos_record_start after insert on task_instances for each row
      when (new.state = 'running') execute function chaos_record_task();
    create function chaos_record_run() returns trigger language plpgsql security definer as $$
    begin
      insert into chaos_transitions (run, was, became) values (new.id, old.state, new.state);
      return null;
    end $$;
    create trigger chaos_record after update on dag_runs for each row
      when (old.state is distinct from new.state) execute function chaos_record_run();`,
  );
}
