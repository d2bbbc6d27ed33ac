/**
 * Copies a running Postgres cluster consistently, with Postgres' documented protocol for copies of its files:
 *
 *   slot keeps the log ──▶ backup start ──▶ files, as they are found ──▶ backup stop ──▶ label, log, control
 *
 * Files change while they are copied, so each may hold another moment. The write-ahead log from start to stop makes
 * them consistent. The copy contains everything that was committed before the start, and a gapless part of what was
 * committed during the backup.
 */
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Superuser } from '@svc/local-postgres/cluster-superuser.ts';
import { directoryEntries, fileEntry } from './directory-entries.ts';
import type { TarEntry } from './tar.ts';

/** Content that belongs to the running server or that the next one creates, as Postgres' documentation lists it. */
const EMPTIED = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pg_wal',
]);
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'backup_label', 'backup_label.old', 'tablespace_map']);
const LEFT_OUT_ANYWHERE = /^(pgsql_tmp|pg_internal\.init)/;
/** Copied last, because recovery must not find a later checkpoint in it than the log has. */
const CONTROL = join('global', 'pg_control');
const LOG_FILE = /^[0-9A-F]{24}$/;

export async function* clusterEntries(input: {
  /** A connection of a superuser. The backup exists only while this session is open. */
  client: Superuser;
  directory: string;
  as: string;
}): AsyncGenerator<TarEntry> {
  const { client, directory, as } = input;
  const slot = `svc_backup_${randomBytes(6).toString('hex')}`;
  await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
  const first = await textOf(client, "select pg_walfile_name(pg_backup_start('svc lite backup', true)) as text");
  yield* directoryEntries({ directory, as, isLeftOut });
  const stopped = await client.query<{ last: string; label: string }>(
    'select pg_walfile_name(lsn) as last, labelfile as label from pg_backup_stop(false)',
  );
  const { last, label } = stopped.rows[0] ?? { last: '', label: '' };
  const content = Buffer.from(label);
  yield { kind: 'file', path: join(as, 'backup_label'), size: content.length, content: [content] };
  for (const folder of ['', 'archive_status', 'summaries']) {
    yield { kind: 'directory', path: join(as, 'pg_wal', folder) };
  }
  const isNeeded = (name: string): boolean => LOG_FILE.test(name) && name >= first && name <= last;
  yield* filesOf({ directory: join(directory, 'pg_wal'), as: join(as, 'pg_wal'), isNeeded });
  yield* fileEntry(join(directory, CONTROL), join(as, CONTROL));
  await client.query('select pg_drop_replication_slot($1)', [slot]);
}

function isLeftOut(path: string): boolean {
  const folder = dirname(path);
  if (folder === '.' && path === 'pg_wal') return true; // added after the stop
  return LEFT_OUT.has(path) || path === CONTROL || EMPTIED.has(folder) || LEFT_OUT_ANYWHERE.test(basename(path));
}

async function* filesOf(input: {
  directory: string;
  as: string;
  isNeeded: (name: string) => boolean;
}): AsyncGenerator<TarEntry> {
  const { directory, as, isNeeded } = input;
  for await (const entry of directoryEntries({ directory, as, isLeftOut: (path) => !isNeeded(path) })) {
    if (entry.kind === 'file') yield entry;
  }
}

async function textOf(client: Superuser, query: string): Promise<string> {
  const { rows } = await client.query<{ text: string }>(query);
  return rows[0]?.text ?? '';
}
