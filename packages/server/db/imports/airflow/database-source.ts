/** Reads an Airflow through its metadata database. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openPostgres, openSqlite } from './metadata-database.ts';
import type { MetadataDatabase } from './metadata-database.ts';
import { mysqlAddress, openMysql } from './mysql-database.ts';
import { textOf } from './raw-values.ts';
import {
  readDagsWithRuns,
  readEarlierTries,
  readHistoryColumns,
  readInstances,
  readRuns,
  readTasks,
} from './read-history.ts';
import { readConnections, readDags, readPools, readSerializedDag, readUsers, readVariables } from './read-settings.ts';
import type { AirflowSource } from './source-types.ts';

/** The source cannot be read. The message says why. */
export class SourceError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SourceError';
  }
}

export async function openAirflowDatabase(address: string): Promise<AirflowSource> {
  const { name, open } = placeOf(address);
  const database = await open().catch((error: unknown) => {
    throw new SourceError(`${name} cannot be opened: ${error instanceof Error ? error.message : String(error)}`, error);
  });
  try {
    return await sourceOf(database, name);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Accepts addresses of SQLAlchemy, as in Airflow's configuration, and plain ones. */
function placeOf(address: string): { name: string; open: () => Promise<MetadataDatabase> } {
  const [, scheme = ''] = /^([a-z0-9]+)(?:\+[a-z0-9]+)?:/i.exec(address) ?? [];
  if (/^postgres(ql)?$/i.test(scheme)) {
    const url = URL.parse(address.replace(/^[a-z0-9+]+:/i, 'postgresql:'));
    if (!url) throw new SourceError('the address of the Postgres database is not a URL');
    const [, schema] = /search_path=(\w+)/.exec(url.searchParams.get('options') ?? '') ?? [];
    const name = `postgresql://${url.host}${url.pathname}${schema === undefined ? '' : ` (schema ${schema})`}`;
    return { name, open: () => openPostgres(url.toString()) };
  }
  if (/^(mysql|mariadb)$/i.test(scheme)) {
    const place = mysqlAddress(address);
    if ('problem' in place) throw new SourceError(place.problem);
    return { name: place.name, open: () => openMysql(place) };
  }
  if (/^mssql$/i.test(scheme))
    throw new SourceError(
      `metadata databases of ${scheme.toLowerCase()} are not read: give the address of Airflow's HTTP API instead (http…://), or copy the database to Postgres or SQLite first`,
    );
  const path = /^sqlite$/i.test(scheme) ? address.replace(/^sqlite(\+\w+)?:(\/\/\/)?/i, '') : address;
  if (!existsSync(path) || !statSync(path).isFile())
    throw new SourceError(
      `${path} is no file: give the address of Airflow's HTTP API, a postgresql:// or mysql:// URL, or a SQLite file`,
    );
  return { name: `sqlite:${resolve(path)}`, open: () => openSqlite(path) };
}

async function sourceOf(db: MetadataDatabase, name: string): Promise<AirflowSource> {
  const columns = await readHistoryColumns(db);
  const missing = ['run_id', 'dag_id', 'state'].filter((column) => !columns.instances.has(column));
  if (columns.runs.size === 0 || missing.length > 0)
    throw new SourceError(
      `${name} is not the metadata database of an Airflow from 2.2 on (tables dag_run and task_instance with ${missing.join(', ') || 'its columns'} are missing)`,
    );
  const [revision] = await db.ask('select version_num from alembic_version').catch(() => []);
  const major = columns.runs.has('logical_date') ? 3 : 2;
  return {
    name,
    learnsTasks: false,
    version: `Airflow ${major}, schema revision ${textOf(revision?.['version_num']) ?? 'unknown'}`,
    pools: () => readPools(db),
    variables: () => readVariables(db),
    connections: () => readConnections(db),
    dags: () => readDags(db),
    users: () => readUsers(db),
    dagsWithRuns: () => readDagsWithRuns(db),
    runs: (after, filter) => readRuns(db, columns, { after, filter }),
    instances: (runs) => readInstances(db, columns, runs),
    earlierTries: (runs) => readEarlierTries(db, columns, runs),
    serializedDag: (dagId) => readSerializedDag(db, dagId),
    tasks: (dagId) => readTasks(db, columns, dagId),
    close: () => db.close(),
  };
}
