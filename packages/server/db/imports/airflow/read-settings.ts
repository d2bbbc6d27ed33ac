/** Reads pools, variables, connections, DAGs and users of an Airflow from its database. */
import { inflateSync } from 'node:zlib';
import type { MetadataDatabase, RawRow, RawValue } from './metadata-database.ts';
import { bytesOf, isTrue, numberOf, textOf, wordOf } from './raw-values.ts';
import type {
  SourceConnection,
  SourceDag,
  SourcePool,
  SourceSecret,
  SourceUser,
  SourceVariable,
} from './source-types.ts';

const PAGE = 1_000;

/**
 * Pages in the order of the key, which is unique. `columns` is the select list, including the key under its own name.
 * Names that are keywords of MySQL are quoted.
 */
async function* pages(
  db: MetadataDatabase,
  { table, key, columns }: { table: string; key: string; columns: string },
): AsyncGenerator<RawRow> {
  for (let after: string | null = null; ;) {
    const where: string = after === null ? '' : `where "${key}" > $1`;
    const rows: RawRow[] = await db.ask(
      `select ${columns} from ${table} ${where} order by "${key}" limit ${PAGE}`,
      after === null ? [] : [after],
    );
    yield* rows;
    if (rows.length < PAGE) return;
    after = textOf(rows.at(-1)?.[key]);
  }
}

const secretOf = (value: RawValue | undefined, isEncrypted: RawValue | undefined): SourceSecret => {
  const text = textOf(value);
  if (text === null || text === '') return { kind: 'none' };
  return isTrue(isEncrypted) ? { kind: 'encrypted', token: text } : { kind: 'plain', text };
};

export async function* readPools(db: MetadataDatabase): AsyncGenerator<SourcePool> {
  const known = await db.columns('slot_pool');
  const deferred = known.has('include_deferred') ? 'include_deferred' : 'null as include_deferred';
  for await (const row of pages(db, {
    table: 'slot_pool',
    key: 'pool',
    columns: `pool, slots, description, ${deferred}`,
  }))
    yield {
      name: wordOf(row, 'pool'),
      slots: numberOf(row['slots']) ?? 0,
      description: textOf(row['description']),
      includeDeferred: isTrue(row['include_deferred']),
    };
}

export async function* readVariables(db: MetadataDatabase): AsyncGenerator<SourceVariable> {
  const columns = '"key", val, description, is_encrypted';
  for await (const row of pages(db, { table: 'variable', key: 'key', columns })) {
    const value = secretOf(row['val'], row['is_encrypted']);
    yield {
      key: wordOf(row, 'key'),
      // An empty text is a value. Only an absent secret has none.
      value: value.kind === 'none' ? { kind: 'plain', text: '' } : value,
      description: textOf(row['description']),
    };
  }
}

export async function* readConnections(db: MetadataDatabase): AsyncGenerator<SourceConnection> {
  const columns =
    'conn_id, conn_type, description, host, "schema", login, port, password, extra, is_encrypted, is_extra_encrypted';
  for await (const row of pages(db, { table: 'connection', key: 'conn_id', columns }))
    yield {
      id: wordOf(row, 'conn_id'),
      type: wordOf(row, 'conn_type'),
      description: textOf(row['description']),
      host: textOf(row['host']),
      schema: textOf(row['schema']),
      login: textOf(row['login']),
      port: numberOf(row['port']),
      password: secretOf(row['password'], row['is_encrypted']),
      extra: secretOf(row['extra'], row['is_extra_encrypted']),
    };
}

export async function* readDags(db: MetadataDatabase): AsyncGenerator<SourceDag> {
  const known = await db.columns('dag');
  const has = (name: string): string => (known.has(name) ? `dag.${name}` : `null as ${name}`);
  const tags = Map.groupBy(
    await db.ask('select dag_id, name from dag_tag order by dag_id, name'),
    (row) => textOf(row['dag_id']) ?? '',
  );
  const columns = [
    'dag_id',
    'is_paused',
    'owners',
    'description',
    'fileloc',
    ...['is_active', 'is_stale', 'dag_display_name', 'relative_fileloc'].map(has),
  ].join(', ');
  for await (const row of pages(db, { table: 'dag', key: 'dag_id', columns })) {
    const id = wordOf(row, 'dag_id');
    yield {
      id,
      displayName: textOf(row['dag_display_name']) ?? id,
      description: textOf(row['description']),
      fileloc: wordOf(row, 'fileloc'),
      relativeFileloc: textOf(row['relative_fileloc']),
      owners: wordOf(row, 'owners')
        .split(',')
        .map((owner) => owner.trim())
        .filter((owner) => owner !== ''),
      tags: (tags.get(id) ?? []).map((tag) => wordOf(tag, 'name')),
      isPaused: isTrue(row['is_paused']),
      // Airflow 2 marks active DAGs, Airflow 3 stale ones.
      isActive: known.has('is_active') ? isTrue(row['is_active']) : !isTrue(row['is_stale']),
    };
  }
}

/** Reads the users of the FAB auth manager, which stores them in the same database. */
export async function readUsers(db: MetadataDatabase): Promise<SourceUser[] | { unavailable: string }> {
  if ((await db.columns('ab_user')).size === 0)
    return {
      unavailable:
        'this Airflow keeps its users elsewhere (there is no table ab_user): create them with "svc users create"',
    };
  const roles = Map.groupBy(
    await db.ask(
      'select ur.user_id, r.name from ab_user_role ur join ab_role r on r.id = ur.role_id order by ur.user_id, r.name',
    ),
    (row) => wordOf(row, 'user_id'),
  );
  const users = await db.ask('select id, username, email, active, password from ab_user order by id');
  return users.map((row) => ({
    username: wordOf(row, 'username'),
    email: wordOf(row, 'email'),
    isActive: isTrue(row['active']),
    roles: (roles.get(wordOf(row, 'id')) ?? []).map((role) => wordOf(role, 'name')),
    hasPassword: textOf(row['password']) !== null,
  }));
}

/** Returns its newest form. Airflow 2 has one per DAG, Airflow 3 one per version. */
export async function readSerializedDag(db: MetadataDatabase, dagId: string): Promise<unknown> {
  const known = await db.columns('serialized_dag');
  const compressed = known.has('data_compressed') ? 'data_compressed' : 'null as data_compressed';
  // Not sorted, because documents of many megabytes exceed the sort buffer of MySQL.
  const [row] = await db.ask(
    `select data, ${compressed} from serialized_dag where dag_id = $1
       and last_updated = (select max(last_updated) from serialized_dag where dag_id = $1) limit 1`,
    [dagId],
  );
  const data = textOf(row?.['data']);
  try {
    if (data !== null && data !== 'null') return JSON.parse(data) as unknown;
    const bytes = bytesOf(row?.['data_compressed']);
    return bytes === null ? undefined : (JSON.parse(inflateSync(bytes).toString('utf8')) as unknown);
  } catch {
    return undefined; // it only draws the graph, and the instances have enough for that
  }
}
