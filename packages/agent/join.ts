/**
 * `svc-agent work --server …`: a worker that people start on a host of their own. It exchanges its token for a
 * credential. When the credential is refused (after a day of absence, or because the control plane has another secret)
 * it joins again. If that is refused too, it ends.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { coded } from './coded.ts';
import { Refusal } from './contact/control-plane.ts';
import type { ControlPlane } from './contact/control-plane.ts';
import { SettingsError } from './settings.ts';
import type { JoinSettings } from './settings.ts';

const OPTIONS = {
  server: { type: 'string', multiple: true },
  'token-file': { type: 'string' },
  'ca-file': { type: 'string' },
  queue: { type: 'string' },
  slots: { type: 'string' },
  name: { type: 'string' },
} as const;

const MAX_SLOTS = 1_000;

/** Returns undefined without arguments: the environment then has the settings. Throws a `SettingsError` for people. */
export function readJoinArguments(args: readonly string[]): JoinSettings | undefined {
  if (args.length === 0) return undefined;
  const values = parsed(args);
  const { server = [], 'token-file': tokenFile, 'ca-file': caFile = '', queue = '', slots = '1', name = '' } = values;
  const servers = [...new Set(server.flatMap(listed))];
  if (servers.length === 0)
    throw new SettingsError('--server is missing: it is the host:port of the control plane (server.grpc_addr)');
  for (const one of servers) {
    if (!/^(\[[0-9a-fA-F:]+\]|[^:/\s]+):\d{1,5}$/.test(one))
      throw new SettingsError(`--server ${one} is no address: write host:port, without http://`);
  }
  if (!tokenFile)
    throw new SettingsError('--token-file is missing: it holds what "svc workers create-token" has printed');
  const elsewhere = servers.find((one) => !isLoopback(one));
  if (caFile === '' && elsewhere !== undefined) {
    throw new SettingsError(
      `--ca-file is missing: ${elsewhere} is another host, and workers join other hosts over TLS only; name the PEM file of the authority that signed its certificate`,
    );
  }
  const count = Number(slots);
  if (!Number.isInteger(count) || count < 1 || count > MAX_SLOTS)
    throw new SettingsError(`--slots ${slots} is no number from 1 to ${MAX_SLOTS}`);
  const settings = { servers, tokenFile, caFile, queues: listed(queue), slots: count, name };
  readToken(settings); // a missing file is reported before anything starts
  if (caFile !== '') readAuthority(caFile);
  return settings;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}: see svc-agent --help`);
  }
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

function isLoopback(server: string): boolean {
  const host = server.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function readToken({ tokenFile }: JoinSettings): string {
  let text: string;
  try {
    text = readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw new SettingsError(`--token-file ${tokenFile} cannot be read: ${(error as Error).message}`);
  }
  if (!/^svc_wt_[0-9A-Za-z]+$/.test(text))
    throw new SettingsError(
      `--token-file ${tokenFile} holds no token of a worker: make one with "svc workers create-token"`,
    );
  return text;
}

function readAuthority(file: string): void {
  try {
    if (readFileSync(file, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return;
  } catch (error) {
    throw new SettingsError(`--ca-file ${file} cannot be read: ${(error as Error).message}`);
  }
  throw new SettingsError(`--ca-file ${file} holds no certificate: it must be a PEM file`);
}

export type Joined = { token: string; workerId: string; queues: readonly string[] };

/** Repeats the call until it is answered. The token file is read for each try, because its content may have changed. */
export async function join(
  controlPlane: Pick<ControlPlane, 'callUntilAnswered' | 'server'>,
  input: { settings: JoinSettings; version: string; signal: AbortSignal; say: (text: string) => void },
): Promise<Joined> {
  const { settings, version, signal } = input;
  const { name, queues, slots } = settings;
  const request = { hostname: hostname(), version, name, queues: [...queues], slots };
  const told = new Map<string, string>();
  // Reports each reason once. The server may be starting, or an address or authority may be wrong for good.
  function onRepeat({ message }: Refusal, server: string): void {
    if (told.get(server) === message) return;
    told.set(server, message);
    input.say(coded('SVC8008', `${server} does not answer yet (${message}); asking again`));
  }
  try {
    const token = (): string => readToken(settings);
    const reply = await controlPlane.callUntilAnswered('Join', request, { token, signal, onRepeat });
    return { token: reply.token, workerId: reply.worker_id, queues: reply.queues };
  } catch (error) {
    if (signal.aborted) throw new SettingsError('stopped before it had joined');
    if (!(error instanceof Refusal)) throw error;
    throw new SettingsError(`this worker may not join ${controlPlane.server()}: ${error.message}`);
  }
}
