/** Mail over SMTP. The connection has Airflow's fields of the kind `smtp`. */
import { idempotencyKey } from '../message.ts';
import type { AlertMessage } from '../message.ts';
import { ChannelError } from '../outbound.ts';
import { fullText } from './channel.ts';
import type { ChannelTarget } from './channel.ts';
import type { SendMail, SmtpServer } from './smtp.ts';

const TLS_PORT = 465;
const PLAIN_PORT = 25;

export async function sendByMail(send: SendMail, message: AlertMessage, target: ChannelTarget): Promise<void> {
  const to = addressesOf(target.target);
  if (to.length === 0) throw new ChannelError('the rule has no mail address: set its target', { isPermanent: true });
  const { server, from } = serverOf(target);
  await send(server, { from, to, data: mailOf(message, { from, to }) });
}

/** Addresses are separated by commas or semicolons, as in Airflow. */
export const addressesOf = (text: string): string[] =>
  text
    .split(/[,;]/)
    .map((address) => address.trim())
    .filter((address) => /^[^\s<>@,;]+@[^\s<>@,;]+$/.test(address));

function serverOf({ connection }: ChannelTarget): { server: SmtpServer; from: string } {
  const { host, port, login, password, connectionId } = connection;
  if (!host) {
    throw new ChannelError(`connection ${connectionId} has no host: set the mail server there`, { isPermanent: true });
  }
  const extra = readExtra(connection.extra);
  const from = addressesOf(String(extra['from_email'] ?? login ?? ''))[0];
  if (from === undefined) {
    throw new ChannelError(`connection ${connectionId} names no sender: set from_email in its extra`, {
      isPermanent: true,
    });
  }
  const security = !isTrue(extra['disable_ssl']) ? 'tls' : isTrue(extra['disable_tls']) ? 'none' : 'starttls';
  const usual = security === 'tls' ? TLS_PORT : PLAIN_PORT;
  return { server: { host, port: port ?? usual, security, login: login || null, password: password || null }, from };
}

const isTrue = (value: unknown): boolean => value === true || String(value).toLowerCase() === 'true';

function readExtra(extra: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(extra ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const idOf = (key: string): string => `<${key.replaceAll(':', '.')}@svc>`;

function mailOf(message: AlertMessage, { from, to }: { from: string; to: readonly string[] }): string {
  const fields = message.fields.map(({ name, value }) => `${name}: ${value}`).join('\n');
  const body = Buffer.from(`${fullText(message)}\n\n${fields}\n`).toString('base64');
  return [
    `From: ${from}`,
    `To: ${to.join(', ')}`,
    `Subject: ${encodedWords(message.title)}`,
    `Date: ${new Date().toUTCString()}`,
    // Equal for each repetition, so that a mail server drops the second.
    `Message-ID: ${idOf(idempotencyKey(message))}`,
    ...(message.kind === 'over' ? [`In-Reply-To: ${idOf(`${message.alertId}:open`)}`] : []),
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(body.match(/.{1,76}/g) ?? []),
  ].join('\r\n');
}

/** A subject in words of RFC 2047, which no line break can leave. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of text.replaceAll(/\s+/g, ' ')) {
    if (Buffer.byteLength(word + character) > 42) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  return [...words, word].map((each) => `=?utf-8?B?${Buffer.from(each).toString('base64')}?=`).join('\r\n ');
}
