/**
 * Creates a client from options, environment and stored logins: it decides which server to call and with which login.
 */
import { isLoopbackHost } from '@svc/server/config/address.ts';
import { usageError } from '../cli-error.ts';
import { warn } from '../context.ts';
import type { CliContext } from '../context.ts';
import type { SvcCommand } from '../svc-command.ts';
import { createClient } from './client.ts';
import type { Client } from './client.ts';
import { openCredentials } from './credentials.ts';
import { unreachable } from './problems.ts';
import { isDueForRenewal, readClaims } from './token-claims.ts';

export type ServerOption = { server?: string };
export type ClientCommandOptions = ServerOption & { token?: string; json?: true };

export const withServerOption = (command: SvcCommand): SvcCommand =>
  command.option(
    '--server <url>',
    'address of the control plane (default: SVC_SERVER_URL, the latest login, then 127.0.0.1:8088 and :8080)',
  );

export const withClientOptions = (command: SvcCommand): SvcCommand =>
  withServerOption(command)
    .option('--token <token>', 'bearer token; better given as SVC_TOKEN (default: the stored login)')
    .option('--json', 'print JSON');

/** Tried in this order if no server is named: lite first, then a control plane with default settings. */
const USUAL_PLACES = ['http://127.0.0.1:8088', 'http://127.0.0.1:8080'] as const;
const PROBE_TIMEOUT_MS = 2_000;

export async function findServer(context: CliContext, { server }: ServerOption): Promise<string> {
  const named =
    server === undefined
      ? { url: context.env['SVC_SERVER_URL'] || undefined, from: 'SVC_SERVER_URL' }
      : { url: server, from: '--server' };
  if (named.url !== undefined) return parseServer(named.url, named.from);
  const stored = openCredentials(context.env).current();
  if (stored !== undefined) return stored;
  let failure: unknown;
  for (const place of USUAL_PLACES) {
    try {
      await fetch(`${place}/healthz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS), redirect: 'manual' });
      return place;
    } catch (error) {
      failure = error;
    }
  }
  throw unreachable(USUAL_PLACES.join(' or '), failure);
}

function parseServer(text: string, from: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${from} is ${JSON.stringify(text)}: give a URL such as http://127.0.0.1:8088`);
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError(`${from} carries a password: log in with "svc auth login" instead`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Call this before a secret is sent. */
export function warnIfReadable(context: CliContext, server: string): void {
  const { protocol, hostname } = new URL(server);
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    warn(context, `${server} is plain http: passwords and tokens can be read on the way`);
  }
}

export async function connect(context: CliContext, options: ClientCommandOptions): Promise<Client> {
  const server = await findServer(context, options);
  const { announcement } = context;
  if (options.token !== undefined) {
    warn(context, '--token shows in process lists; set SVC_TOKEN instead');
    return createClient({ server, token: options.token.trim(), tokenFrom: '--token', announcement });
  }
  const fromEnvironment = context.env['SVC_TOKEN']?.trim();
  if (fromEnvironment) return createClient({ server, token: fromEnvironment, tokenFrom: 'SVC_TOKEN', announcement });
  const stored = openCredentials(context.env).find(server);
  return createClient({ server, token: stored && (await fresh(context, server, stored.token)), announcement });
}

/** Keeps a login alive: shortly before a token expires, it is exchanged for a new one. */
async function fresh(context: CliContext, server: string, token: string): Promise<string> {
  const claims = readClaims(token);
  if (claims === undefined || !isDueForRenewal(claims, Date.now() / 1_000)) return token;
  try {
    const renewed = await createClient({ server, token }).post('/api/v2/auth/token/renew');
    openCredentials(context.env).renew(server, { token: renewed.access_token });
    return renewed.access_token;
  } catch {
    return token; // the token is still valid; the next call will report the problem
  }
}
