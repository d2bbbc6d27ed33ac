/** What all channels have in common. A channel turns a message into one request, and reads the answer. */
import type { OpenConnection } from '../../vault/load-secrets.ts';
import type { AlertMessage } from '../message.ts';
import { ChannelError } from '../outbound.ts';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';

export type ChannelTarget = {
  connection: OpenConnection;
  /** From the rule: a channel of Slack, or addresses of mail. */
  target: string;
};

export type HttpChannel = {
  /** True if a sent message can be changed. */
  canUpdate: boolean;
  request(message: AlertMessage, target: ChannelTarget): OutboundRequest;
  /** Returns what the channel calls the message, for later changes. Throws for an answer that is a failure. */
  reference?(answer: OutboundAnswer): string | null;
};

export const json = (url: string, body: unknown, headers: Record<string, string> = {}): OutboundRequest => ({
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** The secret of a connection is its password. */
export function secretOf({ connection }: ChannelTarget): string {
  if (connection.password) return connection.password;
  throw new ChannelError(`connection ${connection.connectionId} has no password: set the secret of the channel there`, {
    isPermanent: true,
  });
}

/** The address of a connection: a host with a scheme is one already. Airflow names the scheme in `schema`. */
export function addressOf({ connection }: ChannelTarget, byDefault?: string): string {
  const { host, port, schema, connectionId } = connection;
  if (!host) {
    if (byDefault !== undefined) return byDefault;
    throw new ChannelError(`connection ${connectionId} has no host: set the address of the channel there`, {
      isPermanent: true,
    });
  }
  if (/^https?:\/\//.test(host)) return port === null ? host : withPort(host, port);
  const scheme = schema === 'http' ? 'http' : 'https';
  return `${scheme}://${host}${port === null ? '' : `:${port}`}`;
}

function withPort(address: string, port: number): string {
  const url = URL.parse(address);
  if (!url || url.port !== '') return address;
  url.port = String(port);
  return url.toString().replace(/\/$/, '');
}

/** Joins an address and a path with exactly one slash. */
export const pathOf = (address: string, path: string): string =>
  `${address.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;

export const fullText = ({ title, text, link }: AlertMessage): string =>
  [title, text, ...(link === null ? [] : [link])].filter((part) => part !== '').join('\n');
