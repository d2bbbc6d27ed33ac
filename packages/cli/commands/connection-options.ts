/** Converts the options of `svc connections set` to the body of a write. */
import type { ConnectionBody } from '@svc/client/wire-types.ts';
import { readJson } from '@svc/server/vault/json-text.ts';
import { secretsIn } from '@svc/server/vault/mask.ts';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import { parseConnectionUri } from '../files/connection-uri.ts';
import { readStdin } from '../prompt.ts';
import { givenPassword } from '../secret-input.ts';
import type { PasswordOptions } from '../secret-input.ts';

export type ConnectionFieldOptions = PasswordOptions & {
  connType?: string;
  host?: string;
  login?: string;
  port?: string;
  schema?: string;
  extra?: string;
  description?: string;
  uri?: string;
};

export async function bodyFromOptions(input: {
  context: CliContext;
  client: Client;
  id: string;
  options: ConnectionFieldOptions;
}): Promise<ConnectionBody> {
  const { context, client, id, options } = input;
  refuseTwoReaders(options);
  const password = await givenPassword(context, options);
  const fields = {
    ...(await partsOfUri(context, options.uri)),
    ...(options.host !== undefined && { host: options.host }),
    ...(options.login !== undefined && { login: options.login }),
    ...(options.schema !== undefined && { schema: options.schema }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.port !== undefined && { port: portOf(options.port) }),
    ...(options.extra !== undefined && { extra: await extraOf(context, options.extra) }),
    ...(password !== undefined && { password }),
    ...(options.connType !== undefined && { conn_type: options.connType }),
  };
  return { ...fields, connection_id: id, conn_type: fields.conn_type ?? (await storedType(client, id)) };
}

/** Standard input can be read only once. */
function refuseTwoReaders({ passwordStdin, password, extra, uri }: ConnectionFieldOptions): void {
  const readers = [passwordStdin === true || password === '-', extra === '-', uri === '-'].filter(Boolean);
  if (readers.length > 1) throw usageError('only one of password, --extra and --uri can come from standard input');
}

async function partsOfUri(context: CliContext, uri: string | undefined): Promise<Partial<ConnectionBody>> {
  if (uri === undefined) return {};
  const parts = parseConnectionUri(uri === '-' ? await readStdin(context) : uri);
  if (uri !== '-' && parts.password) {
    warn(context, 'the password in --uri shows in process lists; use "--uri -" and standard input instead');
  }
  return parts;
}

function portOf(text: string): number | null {
  if (!/^\d*$/.test(text) || Number(text) > 65_535) throw usageError(`--port is ${text}: give a number up to 65535`);
  return text === '' ? null : Number(text);
}

async function extraOf(context: CliContext, text: string): Promise<string> {
  if (text === '-') return readStdin(context);
  const node = readJson(text);
  if (typeof node === 'object' && secretsIn(node).length > 0) {
    warn(context, 'the secrets in --extra show in process lists; use "--extra -" and standard input instead');
  }
  return text;
}

async function storedType(client: Client, id: string): Promise<string> {
  try {
    return (await client.get('/api/v2/connections/{connection_id}', { path: { connection_id: id } })).conn_type;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) {
      throw usageError(`there is no connection ${id} yet: a new one needs --conn-type or --uri`);
    }
    throw error;
  }
}
