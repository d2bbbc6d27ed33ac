import { sql } from 'kysely';
import type { Kysely } from 'kysely';

/**
 * Every start of a task checks whether a variable or connection of its tenant has changed. Reading all of them would
 * take too long with ten thousand. Each statement that changes some therefore increases a counter of its tenant, and a
 * start reads the sum.
 *
 * No transaction waits for another: if running transactions have locked all counters of the tenant, it adds a row.
 * Every commit increases the sum, so equal sums mean equal states.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const trigger = (table: string, event: 'insert' | 'update' | 'delete'): string =>
  `create trigger ${table}_${event}_counts after ${event} on ${table}
    referencing ${event === 'delete' ? 'old' : 'new'} table as changed
    for each statement execute function count_vault_change()`;

const STATEMENTS = [
  `create table vault_changes (
    tenant_id uuid not null references tenants on delete cascade,
    id bigint generated always as identity,
    changes bigint not null,
    primary key (tenant_id, id)
  ) with (fillfactor = 50)`,
  // Runs with the rights of the owner, because a user that may write a variable may not write here.
  `create function count_vault_change() returns trigger language plpgsql security definer set search_path from current as $$
    declare
      whose uuid;
      free bigint;
    begin
      for whose in select distinct tenant_id from changed loop
        select id into free from vault_changes where tenant_id = whose order by id for update skip locked limit 1;
        if found then
          update vault_changes set changes = changes + 1 where tenant_id = whose and id = free;
        elsif exists (select from tenants where id = whose) then
          insert into vault_changes (tenant_id, changes) values (whose, 1);
        end if;
      end loop;
      return null;
    end $$`,
  ...['variables', 'connections'].flatMap((table) =>
    (['insert', 'update', 'delete'] as const).map((event) => trigger(table, event)),
  ),
];
