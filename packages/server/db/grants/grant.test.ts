/** What identities of the database may do is for Postgres to say: it is asked, not the table that the grants come from. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIdentities } from '@svc/testing/postgres/database-identities.ts';
import type { DatabaseIdentities } from '@svc/testing/postgres/database-identities.ts';
import { queryDatabase } from '@svc/testing/postgres/query-database.ts';
import { createTestDatabase } from '@svc/testing/postgres/test-database.ts';
import { openDatabase } from '../database.ts';
import type { Database } from '../database.ts';
import { migrate } from '../migrate.ts';
import { grant, grantAgain, grantStatements } from './grant.ts';
import { GRANTS } from './privileges.ts';

let database: { url: string; drop(): Promise<void> };
let identities: DatabaseIdentities;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  identities = await createIdentities(database.url);
  db = openDatabase({ url: database.url, maxOpenConns: 2, maxIdleConns: 0, statementTimeoutMs: 30_000, idleInTransactionTimeoutMs: 30_000 }); // prettier-ignore
  await queryDatabase(
    database.url,
    `insert into tenants (id, name) values ('${TENANT}', 'default');
     insert into dags (tenant_id, dag_id, display_name, fileloc, bundle_name, owners, tags, is_paused, timetable, catchup,
       max_active_runs, max_active_tasks, max_consecutive_failed_dag_runs, has_task_concurrency_limits, current_version, last_parsed_at)
       values ('${TENANT}', 'd', 'd', '', '', '{}', '{}', false, '{}', false, 1, 1, 0, false, 1, now());
     insert into dag_runs (tenant_id, dag_id, run_id, run_type, state, run_after, triggered_by, version_number)
       values ('${TENANT}', 'd', 'r', 'manual', 'running', now(), 'test', 1);
     insert into task_instances (tenant_id, run, task_id, dag_id, state, max_tries, operator, pool, pool_slots, priority_weight,
       queue, upstream, version_number, attempt_id, heartbeat_at)
       select '${TENANT}', id, 't', 'd', 'running', 0, 'o', 'p', 1, 1, 'q', '', 1, gen_random_uuid(), now() from dag_runs;`,
  );
});
afterAll(async () => {
  await db?.close();
  await identities?.drop();
  await database?.drop();
});

const TENANT = '00000000-0000-0000-0000-000000000001';
const userOf = (url: string): string => new URL(url).username;

/** `done`, or the code of the refusal. Nothing of it stays. */
async function attempt(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(statement);
    return 'done';
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.query('rollback');
    await client.end();
  }
}
const DENIED = '42501';

describe('the table of privileges', () => {
  it('has every table of the schema: one that is forgotten would be granted to nobody', async () => {
    const rows = await queryDatabase<{ name: string }>(
      database.url,
      `select tablename as name from pg_tables where schemaname = 'public'`,
    );
    expect(Object.keys(GRANTS).sort()).toEqual(rows.map(({ name }) => name).sort());
  });
});

describe('the identity of the API', () => {
  it.each([
    ['gives an attempt out', `update task_instances set attempt_id = gen_random_uuid()`],
    ['renews a lease', `update task_instances set heartbeat_at = now() + interval '1 hour'`],
    ['says who handed an attempt over', `update task_instances set given_by = null`],
    [
      'makes an instance that has an attempt',
      `insert into task_instances (tenant_id, run, task_id, dag_id, max_tries, operator, pool, pool_slots, priority_weight, queue,
         upstream, version_number, attempt_id)
         select tenant_id, run, 'new', dag_id, 0, 'o', 'p', 1, 1, 'q', '', 1, gen_random_uuid() from task_instances`,
    ],
    ['claims a callback', `update callback_requests set state = 'running'`],
    ['sees exchanged pod tokens', `select * from token_exchanges`],
    ['forgets an exchanged pod token', `delete from token_exchanges`],
    ['changes what was audited', `update audit_log set actor = 'somebody else'`],
    ['removes what was audited', `delete from audit_log`],
    ['renames a tenant', `update tenants set name = 'another'`],
    ['removes a tenant', `delete from tenants`],
    ['gives a role more permissions', `update roles set permissions = '{}'`],
    ['speaks for a scheduler', `insert into heartbeats (process_id, component, hostname, version) values (gen_random_uuid(), 'scheduler', '', '')`], // prettier-ignore
    ['asks people in the name of a task', `insert into questions select * from questions`],
    ['fires a trigger', `update triggers set event = '{}'`],
    ['speaks for a triggerer', `update triggerers set heartbeat_at = now()`],
    ['says that a deadline was not missed', `update deadlines set missed_at = null`],
    ['writes rendered fields', `update rendered_fields set fields = ''`],
    ['takes another installation for its own', `update installation set id = gen_random_uuid()`],
    ['says that logs are elsewhere', `update installation set logs_marked_at = now()`],
    ['gives itself another role', `update granted_identities set role = 'scheduler'`],
    ['pretends a migration', `delete from kysely_migration`],
    ['changes a table', `alter table dags add column more text`],
    ['removes the guard', `alter table task_instances disable trigger all`],
    ['makes a table', `create table mine (id int)`],
    ['empties a table at once', `truncate audit_log`],
  ])('is refused by Postgres when it %s', async (_what, statement) => {
    expect(await attempt(identities.api, statement)).toBe(DENIED);
  });

  it('may do what people cause: take an attempt away, mark, note, trigger', async () => {
    const statements = [
      `update task_instances set attempt_id = null, heartbeat_at = null, hostname = '', pid = null, state = 'failed'`,
      `update task_instances set attempt_id = attempt_id, heartbeat_at = heartbeat_at, note = 'seen'`,
      `update dag_runs set state = 'success'`, // with the trigger that counts
      `delete from dag_runs`, // with all that hangs on it
    ];
    for (const statement of statements)
      expect([statement, await attempt(identities.api, statement)]).toEqual([statement, 'done']);
  });
});

describe('the identity of the scheduler', () => {
  it.each([
    ['done', `update task_instances set attempt_id = gen_random_uuid(), heartbeat_at = now(), given_by = null`],
    ['done', `update installation set logs_marked_at = now()`],
    ['done', `analyze task_instances`],
    [DENIED, `update installation set id = gen_random_uuid()`],
    [DENIED, `delete from audit_log`],
    [DENIED, `delete from tenants`],
    [DENIED, `alter table dags add column more text`],
    [DENIED, `update granted_identities set role = 'scheduler'`],
  ])('is answered %s to: %s', async (answer, statement) => {
    expect(await attempt(identities.scheduler, statement)).toBe(answer);
  });

  it('finds the schema up to date without being able to change it, and is told who can when it is not', async () => {
    expect(await migrate(identities.scheduler)).toEqual({ applied: [] });
    const forgotten = await queryDatabase<{ name: string }>(
      database.url,
      `delete from kysely_migration where name = (select max(name) from kysely_migration) returning name, timestamp`,
    );
    await expect(migrate(identities.scheduler)).rejects.toThrow(
      /run "svc db migrate" with the database.url of the owner/,
    );
    await queryDatabase(
      database.url,
      `insert into kysely_migration (name, timestamp) values ('${forgotten[0]?.name}', 'again')`,
    );
  });
});

describe('granting', () => {
  const api = () => ({ role: 'api' as const, user: userOf(identities.api) });
  const privileges = () =>
    queryDatabase(
      database.url,
      `select table_name, column_name, privilege_type from information_schema.column_privileges
       where grantee = '${userOf(identities.api)}' order by 1, 2, 3`,
    );

  it('again changes nothing, takes away what is too much, and gives back what is missing', async () => {
    const before = await privileges();
    await grant(db.shared, api());
    expect(await privileges()).toEqual(before);
    await queryDatabase(
      database.url,
      `grant all on audit_log, task_instances to ${api().user}; revoke all on dags from ${api().user}`,
    );
    expect(await privileges()).not.toEqual(before);
    await grantAgain(db.shared); // as migrations do
    expect(await privileges()).toEqual(before);
  });

  it('of a dry run is the same SQL, and does nothing', async () => {
    const statements = await grantStatements(db.shared, api());
    expect(statements.join('\n')).toMatch(
      /grant select, insert \(.*update \(.*"attempt_id".*on "public"."task_instances"/,
    );
    expect(statements.join('\n')).not.toMatch(/update \([^)]*"given_by"/);
    expect(await grant(db.shared, api())).toEqual(statements);
  });

  it('refuses who is not there, and whom it could not restrict', async () => {
    const to = (user: string) => grant(db.shared, { role: 'api', user });
    await expect(to('nobody_is_called_so')).rejects.toThrow(/no user nobody_is_called_so: make it first/);
    await expect(to(userOf(database.url))).rejects.toThrow(/superuser, whom no grant restricts/);
  });

  it('by somebody who may not says who may', async () => {
    const asApi = openDatabase({ url: identities.scheduler, maxOpenConns: 1, maxIdleConns: 0, statementTimeoutMs: 30_000, idleInTransactionTimeoutMs: 30_000 }); // prettier-ignore
    await expect(grant(asApi.shared, api())).rejects.toThrow(/database.url of the owner/);
    await asApi.close();
  });
});
