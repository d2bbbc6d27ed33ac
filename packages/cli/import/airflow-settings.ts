/** `airflow_settings.yaml` of Astronomer's projects. Its lists start with an empty entry, as a form to fill in. */
import type { ConnectionBody } from '@svc/client/wire-types.ts';
import { connectionOf } from '../files/connection-file.ts';
import { shownName } from '../files/structured-file.ts';
import type { FileEntry } from '../files/structured-file.ts';
import { usageError } from '../cli-error.ts';
import type { Found, PoolEntry } from './entities.ts';

type Fields = Readonly<Record<string, unknown>>;

export async function readAirflowSettings(text: string, file: string): Promise<Found[]> {
  const { readYaml } = await import('@svc/spec/files/yaml.ts');
  const read = readYaml(text, { kind: 'importFile', file });
  if (!read.ok) {
    const [problem] = read.problems;
    throw usageError(
      `${file} is not valid YAML: line ${problem?.line}: ${problem?.message}`,
      problem?.instead || undefined,
    );
  }
  const airflow = fieldsOf(fieldsOf(read.value)['airflow']);
  return [
    ...listOf(airflow['connections'], 'conn_id').map((fields): Found => ({
      kind: 'connections',
      name: textOf(fields['conn_id']),
      body: connection(fields),
      file,
    })),
    ...listOf(airflow['variables'], 'variable_name').map((fields): Found => {
      const name = textOf(fields['variable_name']);
      return { kind: 'variables', name, body: { key: name, value: valueText(fields['variable_value']) }, file };
    }),
    ...listOf(airflow['pools'], 'pool_name').map((fields): Found => ({
      kind: 'pools',
      name: textOf(fields['pool_name']),
      body: pool(fields, file),
      file,
    })),
  ];
}

function connection(fields: Fields): ConnectionBody {
  const name = textOf(fields['conn_id']);
  const uri = textOf(fields['conn_uri']);
  if (uri !== '') return connectionOf({ name, value: uri });
  const extra = fields['conn_extra'];
  const value = {
    conn_type: textOf(fields['conn_type']),
    host: textOf(fields['conn_host']),
    schema: textOf(fields['conn_schema']),
    login: textOf(fields['conn_login']),
    port: textOf(fields['conn_port']),
    ...(textOf(fields['conn_password']) !== '' && { password: textOf(fields['conn_password']) }),
    ...(extra !== null && extra !== undefined && extra !== '' && { extra: valueText(extra) }),
  };
  const entry: FileEntry = { name, value: JSON.stringify(value) };
  return connectionOf(entry);
}

function pool(fields: Fields, file: string): PoolEntry {
  const name = textOf(fields['pool_name']);
  const slots = Number(fields['pool_slot'] ?? fields['pool_slots'] ?? Number.NaN);
  if (!Number.isInteger(slots)) throw usageError(`${file}: pool ${shownName(name)}: pool_slot must be a number`);
  const description = textOf(fields['pool_description']);
  return { name, slots, ...(description !== '' && { description }) };
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** Returns entries that have a name. */
const listOf = (value: unknown, key: string): Fields[] =>
  (Array.isArray(value) ? value.map(fieldsOf) : []).filter((fields) => textOf(fields[key]) !== '');

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const valueText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);
