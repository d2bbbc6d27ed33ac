/**
 * Gives a user of the database the privileges of a role of the control plane, and revokes those beyond them. The owner
 * of the tables runs it. Idempotent. Migrations repeat it for every user with a role, because new tables start without
 * privileges.
 */
import { sql } from 'kysely';
import type { SharedDb } from '../database.ts';
import { GROWING_TABLES } from '../analyze-growing-tables.ts';
import type { DatabaseRole } from '../schema.ts';
import { GRANTS } from './privileges.ts';
import type { Privilege, Privileges } from './privileges.ts';

/** A message for the operator. */
export class GrantError extends Error {}

type Tables = ReadonlyMap<string, readonly string[]>;

/** Users with this privilege refresh the statistics of growing tables. Before Postgres 17 only the owner could. */
const MAINTAIN_SINCE = 170_000;
/**
 * The key of an advisory lock: Postgres fails one of two transactions that grant on the same table at the same time.
 */
const GRANTING = 7_271_015;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns the statements in order. They must run in one transaction. */
export async function grantStatements(
  db: SharedDb,
  { role, user }: { role: DatabaseRole; user: string },
): Promise<string[]> {
  const place = await readPlace(db);
  await refuseUnfit(db, user, place);
  const [schema, grantee] = [quoted(place.schema), quoted(user)];
  const table = (name: string): string => `${schema}.${quoted(name)}`;
  const statements = [
    `grant connect on database ${quoted(place.database)} to ${grantee}`,
    `revoke all on schema ${schema} from ${grantee}`,
    `grant usage on schema ${schema} to ${grantee}`,
    `revoke all on all tables in schema ${schema} from ${grantee}`,
    `grant execute on all functions in schema ${schema} to ${grantee}`,
  ];
  for (const [name, privileges] of Object.entries(GRANTS)) {
    const words = wordsFor(privileges[role], place.tables.get(name) ?? []);
    if (words.length > 0) statements.push(`grant ${words.join(', ')} on ${table(name)} to ${grantee}`);
  }
  if (role === 'scheduler' && place.version >= MAINTAIN_SINCE) {
    statements.push(`grant maintain on ${GROWING_TABLES.map(table).join(', ')} to ${grantee}`);
  }
  statements.push(
    `insert into ${table('granted_identities')} (pg_user, role) values (${literal(user)}, '${role}')` +
      ` on conflict (pg_user) do update set role = excluded.role, granted_at = now()`,
  );
  return statements;
}

export async function grant(db: SharedDb, input: { role: DatabaseRole; user: string }): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${GRANTING})`.execute(trx);
    const statements = await grantStatements(trx, input);
    try {
      for (const statement of statements) await sql.raw(statement).execute(trx);
    } catch (error) {
      if ((error as { code?: unknown }).code !== '42501') throw error;
      throw new GrantError(
        `this identity may not grant (${(error as Error).message}): run it with the database.url of the owner of the tables`,
        { cause: error },
      );
    }
    return statements;
  });
}

/** Repeats the grants for every user that has a role and still exists. */
export async function grantAgain(db: SharedDb): Promise<void> {
  const { rows } = await sql<{ user: string; role: DatabaseRole }>`
    select pg_user as user, role from granted_identities join pg_roles on rolname = pg_user`.execute(db);
  for (const identity of rows) await grant(db, identity);
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns words such as `insert ("a", "b")` when a privilege covers only some columns. */
function wordsFor(privileges: Privileges, columns: readonly string[]): string[] {
  const word = (name: string, privilege: Privilege | undefined): string[] => {
    if (privilege === undefined) return [];
    if (privilege === true) return [name];
    const meant = 'only' in privilege ? privilege.only : columns.filter((column) => !privilege.except.includes(column));
    return [`${name} (${meant.map(quoted).join(', ')})`];
  };
  return (['select', 'insert', 'update', 'delete'] as const).flatMap((name) => word(name, privileges[name]));
}

type Place = { database: string; schema: string; owner: string; version: number; tables: Tables };

async function readPlace(db: SharedDb): Promise<Place> {
  const { rows: places } = await sql<Omit<Place, 'tables'>>`
    select current_database() as database, n.nspname as schema, pg_get_userbyid(c.relowner) as owner,
      current_setting('server_version_num')::int as version
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = to_regclass('granted_identities')`.execute(db);
  const [place] = places;
  if (!place)
    throw new GrantError('the schema is not there, or older than this version of svc: run "svc db migrate" first');
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where n.nspname = ${place.schema} and c.relkind = 'r' group by c.relname`.execute(db);
  return { ...place, tables: new Map(rows.map(({ name, columns }) => [name, columns])) };
}

async function refuseUnfit(db: SharedDb, user: string, { owner }: Place): Promise<void> {
  const { rows } = await sql<{ isSuper: boolean; isOwner: boolean }>`
    select rolsuper as "isSuper", pg_has_role(oid, ${owner}, 'member') as "isOwner"
    from pg_roles where rolname = ${user}`.execute(db);
  const [found] = rows;
  if (!found)
    throw new GrantError(
      `the database has no user ${user}: make it first, with "create role ${quoted(user)} login password '…'"`,
    );
  if (found.isSuper) throw new GrantError(`${user} is a superuser, whom no grant restricts: name another user`);
  if (found.isOwner)
    throw new GrantError(
      `${user} is, or acts for, ${owner}, who owns the tables and may do everything: name another user`,
    );
}
