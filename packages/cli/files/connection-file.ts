/** Connections in files: converts an entry to the body of a write. */
import type { Connection, ConnectionBody } from '@svc/client/wire-types.ts';
import { readJson, valueOf, writeJson } from '@svc/server/vault/json-text.ts';
import type { JsonNode, JsonObject } from '@svc/server/vault/json-text.ts';
import { MASK } from '@svc/server/vault/mask.ts';
import { usageError } from '../cli-error.ts';
import { parseConnectionUri, writeConnectionUri } from './connection-uri.ts';
import { shownName } from './structured-file.ts';
import type { ExportedEntry, FileEntry, FileFormat } from './structured-file.ts';

const TEXT_FIELDS = ['description', 'host', 'login', 'schema', 'password'] as const;
/** Fields that some versions of Airflow's export and our API write. They have no meaning for an import. */
const IGNORED = new Set(['conn_id', 'connection_id', 'id', 'team_name', 'is_encrypted', 'is_extra_encrypted']);

/** A missing field keeps its stored value, and an empty one clears it. */
export function connectionOf({ name, value }: FileEntry): ConnectionBody {
  const id = connectionId(name);
  try {
    if (typeof value === 'string') return fromText(id, value);
    if (value.kind === 'scalar') return fromText(id, String(valueOf(value)));
    if (value.kind === 'object') return fromObject(id, value);
    throw usageError('give an object or a connection URI');
  } catch (error) {
    throw usageError(`connection ${shownName(id)}: ${(error as Error).message}`);
  }
}

/** The variable `AIRFLOW_CONN_MY_DB` is the connection `my_db`. */
const connectionId = (name: string): string =>
  name.startsWith('AIRFLOW_CONN_') ? name.slice('AIRFLOW_CONN_'.length).toLowerCase() : name;

function fromText(id: string, text: string): ConnectionBody {
  const node = text.trimStart().startsWith('{') ? readJson(text) : undefined;
  if (typeof node === 'object' && node.kind === 'object') return fromObject(id, node);
  // Fields that a URI does not contain are empty. Only the password stays, because a URI may omit it.
  return { connection_id: id, ...parseConnectionUri(text) };
}

function fromObject(id: string, { entries }: JsonObject): ConnectionBody {
  const fields = new Map(entries);
  const uri = fields.get('uri');
  if (uri !== undefined) return fromText(id, textOf('uri', uri));
  const connType = fields.get('conn_type');
  if (connType === undefined) throw usageError('conn_type is missing');
  const body: ConnectionBody = { connection_id: id, conn_type: textOf('conn_type', connType) };
  for (const [name, value] of fields) {
    if (name === 'conn_type' || IGNORED.has(name)) continue;
    const field = TEXT_FIELDS.find((candidate) => candidate === name);
    // An export has null for every password that it did not write. This must not clear the password.
    if (field === 'password' && isNull(value)) continue;
    if (field !== undefined) body[field] = textOf(name, value);
    else if (name === 'port') body.port = portOf(value);
    else if (name === 'extra' || name === 'extra_dejson') body.extra = extraOf(value);
    else
      throw usageError(`there is no field ${shownName(name)}; use conn_type, ${TEXT_FIELDS.join(', ')}, port, extra`);
  }
  return body;
}

const isNull = (node: JsonNode): boolean => node.kind === 'scalar' && node.text === 'null';

function textOf(name: string, node: JsonNode): string {
  if (node.kind !== 'scalar') throw usageError(`${name} must be text`);
  const value = valueOf(node);
  return value === null ? '' : typeof value === 'string' ? value : node.text;
}

function portOf(node: JsonNode): number | null {
  const text = textOf('port', node);
  if (!/^\d*$/.test(text)) throw usageError('port must be a number');
  return text === '' ? null : Number(text);
}

const extraOf = (node: JsonNode): string => (node.kind === 'scalar' ? textOf('extra', node) : writeJson(node));

/** True if importing this where the connection does not exist would lose a secret. */
export const holdsMaskedSecret = ({ password, extra }: ConnectionBody): boolean =>
  password === MASK || extra === MASK || extra?.includes(`"${MASK}"`) === true;

export function exportedConnection(connection: Omit<Connection, 'team_name'>, format: FileFormat): ExportedEntry {
  const { connection_id: name, conn_type, description, host, login, schema, port, extra } = connection;
  const fields = { conn_type, description, host, login, schema, port, extra };
  // A type that cannot be a scheme is written as JSON in an env file. Airflow reads both forms.
  return { name, value: format === 'env' ? (writeConnectionUri(connection) ?? JSON.stringify(fields)) : fields };
}
