/**
 * A signed webhook. The receiver checks `X-Svc-Signature: t=<seconds>,v1=<hex>`: the HMAC-SHA256 of `<seconds>.<body>`
 * with the password of the connection. A connection without a password sends no signature.
 */
import { createHmac } from 'node:crypto';
import type { AlertMessage } from '../message.ts';
import { addressOf, json } from './channel.ts';
import type { HttpChannel } from './channel.ts';

export const WEBHOOK: HttpChannel = {
  canUpdate: false,
  request(message, target) {
    const request = json(addressOf(target), bodyOf(message), { 'x-svc-event': message.kind });
    const { password } = target.connection;
    if (!password) return request;
    const at = Math.floor(Date.now() / 1_000);
    const signature = signatureOf(password, at, request.body);
    return { ...request, headers: { ...request.headers, 'x-svc-signature': `t=${at},v1=${signature}` } };
  },
};

const signatureOf = (secret: string, at: number, body: string): string =>
  createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');

const bodyOf = (message: AlertMessage) => ({
  alert_id: message.alertId,
  kind: message.kind,
  rule: message.rule,
  event: message.event,
  cause: message.cause,
  title: message.title,
  text: message.text,
  fields: Object.fromEntries(message.fields.map(({ name, value }) => [name, value])),
  failures: message.failures,
  dags: message.dags,
  opened_at: message.openedAt,
  link: message.link,
});
