/**
 * The header in which the command line names the command that it runs. The audit log gets one entry per command from
 * it, as Airflow writes them (`cli_<function>`). The header is only a claim. The actor of the entry is the
 * authenticated caller of the request.
 */
export const COMMAND_HEADER = 'x-svc-command';

export type AnnouncedCommand = {
  /** `cli_` and a function name: Airflow's name if Airflow has the command. */
  event: string;
  hostName: string;
  /** The user of the client's operating system. */
  systemUser: string;
  /** The command as a list in Python notation, with secrets masked. */
  fullCommand: string;
  dagId?: string;
};

const EVENT = /^cli_[a-z0-9_]{1,60}$/;
const MAX_NAME = 255;
const MAX_DAG_ID = 250;
const MAX_COMMAND = 1_000;
/** The longest header: three bytes per character, in base64. Proxies accept at least 8 KiB. */
const MAX_HEADER = 7_500;

/**
 * Encodes a command for the header. Long commands are cut. Control characters are replaced, because JSON would make
 * them longer.
 */
export function encodeCommand(command: AnnouncedCommand): string {
  const { event, hostName, systemUser, fullCommand, dagId } = command;
  const fitting = {
    event,
    ...(isText(dagId, MAX_DAG_ID) && !/\p{Cc}/u.test(dagId) && { dagId }),
    hostName: cut(hostName, MAX_NAME),
    systemUser: cut(systemUser, MAX_NAME),
    fullCommand: cut(fullCommand, MAX_COMMAND),
  };
  return Buffer.from(JSON.stringify(fitting)).toString('base64url');
}

const cut = (text: string, length: number): string =>
  (text.length > length ? `${text.slice(0, length - 1)}…` : text).toWellFormed().replaceAll(/\p{Cc}/gu, '\uFFFD');

/** Returns undefined for a header that `encodeCommand` did not write. */
export function decodeCommand(header: unknown): AnnouncedCommand | undefined {
  if (typeof header !== 'string' || header.length > MAX_HEADER) return undefined;
  const value = parse(Buffer.from(header, 'base64url').toString('utf8'));
  const { event, hostName, systemUser, fullCommand, dagId } = value;
  if (!isText(event, 64) || !EVENT.test(event)) return undefined;
  if (!isText(hostName, MAX_NAME) || !isText(systemUser, MAX_NAME) || !isText(fullCommand, MAX_COMMAND))
    return undefined;
  return { event, hostName, systemUser, fullCommand, ...(isText(dagId, MAX_DAG_ID) && { dagId }) };
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength && value.isWellFormed() && !value.includes('\0');
