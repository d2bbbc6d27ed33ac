/**
 * Airflow's one-line form of a connection:
 *
 *   conn-type://login:password@host:port/schema?name=value
 *
 * Every part is percent-encoded. If the extra is an object of strings, it is the query. Any other extra is the value of
 * the one parameter `__extra__`. A host may have its own protocol: `http://user@https://example.com:443/`.
 */
import { readJson, scalarOf, valueOf, writeJson } from '@svc/server/vault/json-text.ts';
import { usageError } from '../cli-error.ts';

export type UriConnection = {
  readonly conn_type: string;
  readonly host: string;
  readonly login: string;
  readonly schema: string;
  readonly port: number | null;
  readonly extra: string;
  /** Undefined if the URI has none. The stored password then stays. */
  readonly password?: string;
};

const WHOLE_EXTRA = '__extra__';

export function parseConnectionUri(uri: string): UriConnection {
  const match = /^(?<scheme>[a-z][\w+.-]*):\/\/(?<body>[^?]*)(?:\?(?<query>[\s\S]*))?$/i.exec(uri.trim());
  if (match?.groups === undefined) throw notAUri('it does not begin with a connection type and ://');
  const { scheme = '', body = '', query = '' } = match.groups;
  const { user, rest } = splitUser(body);
  const address = /^(?:(?<protocol>[^:/]+):\/\/)?(?<host>\[[^\]]*\]|[^:/]*)(?::(?<port>[^/]*))?(?:\/(?<schema>.*))?$/su;
  const { protocol, host = '', port = '', schema = '' } = address.exec(rest)?.groups ?? {};
  if (!address.test(rest) || !/^\d*$/.test(port)) {
    throw notAUri('the part behind the host is not a port; special characters must be percent-encoded');
  }
  const [login = '', password] = user;
  return {
    conn_type: connType(scheme),
    host: (protocol === undefined ? '' : `${decoded(protocol)}://`) + decoded(host.replace(/^\[(.*)\]$/, '$1')),
    login: decoded(login),
    ...(password !== undefined && { password: decoded(password) }),
    port: port === '' ? null : Number(port),
    schema: decoded(schema),
    extra: extraOf(query),
  };
}

/** The user ends at the last @ before any slash. */
function splitUser(body: string): { user: readonly string[]; rest: string } {
  const slash = body.indexOf('/');
  const at = body.lastIndexOf('@', slash === -1 ? body.length : slash);
  if (at === -1) return { user: [], rest: body };
  const user = body.slice(0, at);
  const colon = user.indexOf(':');
  return { user: colon === -1 ? [user] : [user.slice(0, colon), user.slice(colon + 1)], rest: body.slice(at + 1) };
}

/** A scheme has no underscores, so dashes replace them. */
function connType(scheme: string): string {
  const name = scheme.toLowerCase();
  return name === 'postgresql' ? 'postgres' : name.replaceAll('-', '_');
}

function extraOf(query: string): string {
  const parameters = new URLSearchParams(query);
  const whole = parameters.get(WHOLE_EXTRA);
  if (whole !== null) return whole;
  if (parameters.size === 0) return '';
  const entries = [...new Map(parameters)].map(([name, value]) => [name, scalarOf(value)] as const);
  return writeJson({ kind: 'object', entries });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notAUri('a % is not followed by two hex digits: write %25 for a percent sign');
  }
}

/** The message never contains the URI, which usually contains a password. */
const notAUri = (reason: string): Error =>
  usageError(`not a connection URI: ${reason}`, 'the form is conn-type://login:password@host:port/schema?name=value');

/** Returns undefined for a type that cannot be written as a scheme. */
export function writeConnectionUri(connection: {
  conn_type: string;
  host: string | null;
  login: string | null;
  schema: string | null;
  port: number | null;
  extra: string | null;
}): string | undefined {
  const { host, login, schema, port, extra } = connection;
  const scheme = connection.conn_type.toLowerCase().replaceAll('_', '-');
  if (connType(scheme) !== connection.conn_type || !/^[a-z][a-z0-9+.-]*$/.test(scheme)) return undefined;
  const user = login ? `${encoded(login)}@` : '';
  const place = `${encoded(host ?? '')}${port === null ? '' : `:${port}`}`;
  const path = schema ? `/${encoded(schema)}` : '';
  const query = extra ? `?${queryOf(extra).toString()}` : '';
  return `${scheme}://${user}${place}${path}${query}`;
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

function queryOf(extra: string): URLSearchParams {
  const node = readJson(extra);
  if (typeof node !== 'string' && node.kind === 'object' && node.entries.length > 0) {
    const values = node.entries.map(
      ([name, value]) => [name, value.kind === 'scalar' ? valueOf(value) : null] as const,
    );
    const flat = values.filter((entry): entry is readonly [string, string] => typeof entry[1] === 'string');
    const isFaithful = flat.length === values.length && new Set(flat.map(([name]) => name)).size === flat.length;
    if (isFaithful && !flat.some(([name]) => name === WHOLE_EXTRA)) {
      return new URLSearchParams(flat.map(([name, value]) => [name, value] as [string, string]));
    }
  }
  return new URLSearchParams({ [WHOLE_EXTRA]: extra });
}
