/**
 * `svc-agent work --server …`: a worker that people start on a host of their own. Its token becomes a credential; when that is
 * refused (it was away for a day, or the control plane has another secret) it joins anew, and leaves when it may not.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { Refusal } from './contact/control-plane.ts';
import type { ControlPlane } from './contact/control-plane.ts';
import { SettingsError } from './settings.ts';
import type { JoinSettings } from './settings.ts';

const OPTIONS = {
  server: { type: 'string' },
  'token-file': { type: 'string' },
  'ca-file': { type: 'string' },
  queue: { type: 'string' },
  slots: { type: 'string' },
  name: { type: 'string' },
} as const;

const MAX_SLOTS = 1_000;

/** Undefined without arguments: then the environment says who it is. Throws a `SettingsError` in words. */
export function readJoinArguments(args: readonly string[]): JoinSettings | undefined {
  if (args.length === 0) return undefined;
  const values = parsed(args);
  const { server, 'token-file': tokenFile, 'ca-file': caFile = '', queue = '', slots = '1', name = '' } = values;
  if (!server)
    throw new SettingsError('--server is missing: it is the host:port of the control plane (server.grpc_addr)');
  if (!/^(\[[0-9a-fA-F:]+\]|[^:/\s]+):\d{1,5}$/.test(server))
    throw new SettingsError(`--server ${server} is no address: write host:port, without http://`);
  if (!tokenFile)
    throw new SettingsError('--token-file is missing: it holds what "svc workers create-token" has printed');
  if (caFile === '' && !isLoopback(server)) {
    throw new SettingsError(
      `--ca-file is missing: ${server} is another host, and workers join other hosts over TLS only; name the PEM file of the authority that signed its certificate`,
    );
  }
  const count = Number(slots);
  if (!Number.isInteger(count) || count < 1 || count > MAX_SLOTS)
    throw new SettingsError(`--slots ${slots} is no number from 1 to ${MAX_SLOTS}`);
  const queues = queue
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  const settings = { server, tokenFile, caFile, queues, slots: count, name };
  readToken(settings); // a file that is not there is told before anything is begun
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

/** Until it is answered. The file is read for each call: somebody may have put another token there. */
export async function join(
  controlPlane: Pick<ControlPlane, 'callUntilAnswered'>,
  input: { settings: JoinSettings; version: string; signal: AbortSignal; say: (text: string) => void },
): Promise<Joined> {
  const { settings, version, signal } = input;
  const { name, queues, slots } = settings;
  const request = { hostname: hostname(), version, name, queues: [...queues], slots };
  let told = '';
  // Each reason once: it may be a server that starts, or an address or an authority that is wrong for ever.
  function onRepeat({ message }: Refusal): void {
    if (message === told) return;
    told = message;
    input.say(`${settings.server} does not answer yet (${message}); asking again`);
  }
  try {
    const token = (): string => readToken(settings);
    const reply = await controlPlane.callUntilAnswered('Join', request, { token, signal, onRepeat });
    return { token: reply.token, workerId: reply.worker_id, queues: reply.queues };
  } catch (error) {
    if (signal.aborted) throw new SettingsError('stopped before it had joined');
    if (!(error instanceof Refusal)) throw error;
    throw new SettingsError(`this worker may not join ${settings.server}: ${error.message}`);
  }
}
