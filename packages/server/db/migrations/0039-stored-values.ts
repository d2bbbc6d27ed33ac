import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Large values of tasks, whose bytes are in the store of task logs. `xcoms.stored` names the value, and `xcoms.value`
 * is then a short description of it.
 *
 * A stored value has no reference to its run, because its row must outlive the run until its bytes are removed.
 * `unused_since` is null while an XCom names the value. Postgres triggers set it for every statement, including cascades
 * and those of an earlier release. A collector therefore looks only at values that no XCom names.
 *
 * A statement of an earlier release changes `value` and does not know `stored`. The first trigger then clears `stored`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table stored_values (
      tenant_id uuid not null references tenants on delete cascade,
      id uuid not null,
      run bigint not null,
      task_id text not null,
      map_index integer not null,
      attempt_id uuid not null,
      bytes bigint not null,
      received bigint not null default 0,
      unused_since timestamptz default now(),
      primary key (tenant_id, id)
    )`.execute(db);
  await sql`create index stored_values_unused on stored_values (unused_since) where unused_since is not null`.execute(
    db,
  );
  await sql`alter table xcoms add column stored uuid`.execute(db);
  await sql`create index xcoms_stored on xcoms (tenant_id, stored) where stored is not null`.execute(db);
  await sql`
    create function forget_stored_value() returns trigger language plpgsql as $$
      begin new.stored := null; return new; end $$`.execute(db);
  await sql`
    create trigger xcoms_forget_stored before update on xcoms for each row
      when (old.stored is not null and new.stored is not distinct from old.stored and new.value is distinct from old.value)
      execute function forget_stored_value()`.execute(db);
  await sql`
    create function note_use_of_stored_value() returns trigger language plpgsql as $$
      begin
        if tg_op <> 'INSERT' and old.stored is not null then
          update stored_values set unused_since = now() where tenant_id = old.tenant_id and id = old.stored;
        end if;
        if tg_op <> 'DELETE' and new.stored is not null then
          update stored_values set unused_since = null where tenant_id = new.tenant_id and id = new.stored;
        end if;
        return null;
      end $$`.execute(db);
  await sql`
    create trigger xcoms_stored_inserted after insert on xcoms for each row
      when (new.stored is not null) execute function note_use_of_stored_value()`.execute(db);
  await sql`
    create trigger xcoms_stored_updated after update on xcoms for each row
      when (old.stored is distinct from new.stored) execute function note_use_of_stored_value()`.execute(db);
  await sql`
    create trigger xcoms_stored_deleted after delete on xcoms for each row
      when (old.stored is not null) execute function note_use_of_stored_value()`.execute(db);
}
