/**
 * Sources of connections, variables and pools:
 *
 *   a folder     its airflow_settings.yaml, .env (AIRFLOW_CONN_, AIRFLOW_VAR_), connections.*, variables.*, pools.*
 *   a file       one of these, by its name or by --as
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { valueOf } from '@svc/server/vault/json-text.ts';
import type { JsonNode } from '@svc/server/vault/json-text.ts';
import { usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { connectionOf } from '../files/connection-file.ts';
import { formatOf, readEntries, readImportFile, shownName } from '../files/structured-file.ts';
import type { FileEntry } from '../files/structured-file.ts';
import { variableOf } from '../files/variable-file.ts';
import { readAirflowSettings } from './airflow-settings.ts';
import type { Found, Kind, PoolEntry } from './entities.ts';

const SETTINGS = /^airflow_settings\.ya?ml$/;
const EXPORT = /^(connections|variables|pools)\.(?:json|ya?ml|env)$/;

export async function readSources(context: CliContext, path: string, kind: Kind | undefined): Promise<Found[]> {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info) throw usageError(`${path} does not exist`, 'name a repository, or a file that Airflow has exported');
  if (!info.isDirectory()) return readSource(context, path, kind);
  const names = readdirSync(path).filter((name) => SETTINGS.test(name) || EXPORT.test(name) || name === '.env');
  const found: Found[] = [];
  // The environment comes last, so it takes precedence, as in Airflow.
  for (const name of names.sort((a, b) => Number(a === '.env') - Number(b === '.env') || (a < b ? -1 : 1)))
    found.push(...(await readSource(context, join(path, name), undefined)));
  return found;
}

async function readSource(context: CliContext, path: string, given: Kind | undefined): Promise<Found[]> {
  const name = basename(path);
  if (given === undefined && SETTINGS.test(name)) return readAirflowSettings(readImportFile(path), name);
  const isEnvFile = given === undefined && /(^|\.)env$/.test(name) && !EXPORT.test(name);
  const kind = given ?? (EXPORT.exec(name)?.[1] as Kind | undefined);
  if (kind === undefined && !isEnvFile) {
    throw usageError(
      `${path}: its name does not say what is in it`,
      'say --as connections, --as variables or --as pools',
    );
  }
  const entries = await readEntries(context, path, formatOf(path, isEnvFile ? 'env' : undefined));
  if (kind !== undefined) return entries.map((entry) => entityOf(kind, entry, name));
  return entries.flatMap((entry) => {
    if (entry.name.startsWith('AIRFLOW_CONN_')) return [entityOf('connections', entry, name)];
    return entry.name.startsWith('AIRFLOW_VAR_') ? [entityOf('variables', entry, name)] : [];
  });
}

function entityOf(kind: Kind, entry: FileEntry, file: string): Found {
  switch (kind) {
    case 'connections': {
      const body = connectionOf(entry);
      return { kind, name: body.connection_id, body, file };
    }
    case 'variables': {
      const body = variableOf(entry);
      return { kind, name: body.key, body, file };
    }
    case 'pools':
      return { kind, name: entry.name, body: poolOf(entry, file), file };
  }
}

/**
 * Reads the form of `airflow pools export`: `{"my_pool": {"slots": 3, "description": "", "include_deferred": false}}`.
 */
function poolOf({ name, value }: FileEntry, file: string): PoolEntry {
  const fields = new Map(typeof value !== 'string' && value.kind === 'object' ? value.entries : []);
  const scalar = (key: string): unknown => {
    const node: JsonNode | undefined = fields.get(key);
    return node?.kind === 'scalar' ? valueOf(node) : undefined;
  };
  const slots = scalar('slots');
  if (typeof slots !== 'number') throw usageError(`${file}: pool ${shownName(name)}: slots must be a number`);
  const description = scalar('description');
  const deferred = scalar('include_deferred');
  return {
    name,
    slots,
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(typeof deferred === 'boolean' && { include_deferred: deferred }),
  };
}
