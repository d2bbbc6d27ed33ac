import { startHttpReceiver } from '@svc/testing/alerts/http-receiver.ts';
import type { HttpReceiver } from '@svc/testing/alerts/http-receiver.ts';
import { startSmtpReceiver } from '@svc/testing/alerts/smtp-receiver.ts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { OpenConnection } from '../../vault/load-secrets.ts';
import type { AlertMessage } from '../message.ts';
import { createPost } from '../outbound.ts';
import { sendMessage } from './channels.ts';
import { createSendMail } from './smtp.ts';

const CARRIERS = {
  post: createPost({ allowsPrivate: true }),
  sendMail: createSendMail({ allowsPrivate: true }),
};

let receiver: HttpReceiver;
beforeAll(async () => {
  receiver = await startHttpReceiver();
});
afterAll(() => receiver?.close());
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answerWith(() => ({ status: 200, body: { ok: true, channel: 'C1', ts: '17.5' } }));
});

const MESSAGE: AlertMessage = {
  alertId: '0b9f',
  kind: 'open',
  rule: 'all',
  event: 'failed',
  title: 'load of shop failed: <!channel> & more',
  text: 'at shop.py:12\ntry: fix it',
  fields: [{ name: 'dag', value: 'shop' }],
  link: 'https://flows.example.com/dags/shop',
  failures: 1,
  dags: ['shop'],
  cause: 'exception',
  openedAt: '2026-11-19T03:12:00.000000Z',
  reference: null,
};
const OVER: AlertMessage = { ...MESSAGE, kind: 'over', title: 'Over: load of shop failed' };

async function send(channel: string, message: AlertMessage, more: Partial<OpenConnection> = {}, to = '#alerts') {
  const connection: OpenConnection = {
    connectionId: 'c',
    connType: 'http',
    description: null,
    host: receiver.url,
    login: null,
    schema: null,
    port: null,
    password: 'secret-key',
    extra: null,
    ...more,
  };
  const target = { connection, target: to };
  const reference = await sendMessage(CARRIERS, channel, message, target);
  return { reference, request: receiver.received.at(-1) };
}

it('an incoming webhook of Slack gets text that cannot mention a channel', async () => {
  const { request } = await send('slack_webhook', MESSAGE, { password: `${receiver.url}/services/T/B/x` });
  expect(request?.path).toBe('/services/T/B/x');
  expect(request?.text).not.toContain('<!channel>');
  expect(request?.body).toMatchObject({
    text: expect.stringContaining('load of shop failed: &lt;!channel&gt; &amp; more') as string,
    blocks: [{ type: 'section' }, { type: 'context' }],
  });
});

it('a Slack bot changes its message in place, and answers in its thread when it is over', async () => {
  const { request, reference } = await send('slack_bot', MESSAGE);
  expect([request?.path, request?.headers['authorization'], reference]).toEqual([
    '/chat.postMessage',
    'Bearer secret-key',
    'C1 17.5',
  ]);
  expect(request?.body).toMatchObject({ channel: '#alerts' });
  const update = await send('slack_bot', { ...MESSAGE, kind: 'update', failures: 42, reference });
  expect(update.request?.path).toBe('/chat.update');
  expect(update.request?.body).toMatchObject({ channel: 'C1', ts: '17.5' });
  const over = await send('slack_bot', { ...OVER, reference });
  expect(over.request?.path).toBe('/chat.postMessage');
  expect(over.request?.body).toMatchObject({ channel: 'C1', thread_ts: '17.5' });
});

it('an error that Slack answers with status 200 is a failure, with its code and without the token', async () => {
  receiver.answerWith(() => ({ status: 200, body: { ok: false, error: 'channel_not_found' } }));
  await expect(send('slack_bot', MESSAGE)).rejects.toThrow(/^Slack refused the message: channel_not_found$/);
});

it('PagerDuty gets one incident for an alert, which the end resolves', async () => {
  const { request } = await send('pagerduty', MESSAGE);
  expect(request?.path).toBe('/v2/enqueue');
  expect(request?.body).toMatchObject({
    routing_key: 'secret-key',
    event_action: 'trigger',
    dedup_key: '0b9f',
    payload: { source: 'shop', severity: 'error', class: 'exception', custom_details: { dag: 'shop' } },
    links: [{ href: MESSAGE.link }],
  });
  const over = await send('pagerduty', OVER);
  expect(over.request?.body).toMatchObject({ event_action: 'resolve', dedup_key: '0b9f' });
});

it('Opsgenie gets an alert under the id as its alias, which the end closes', async () => {
  const { request } = await send('opsgenie', MESSAGE);
  expect([request?.path, request?.headers['authorization']]).toEqual(['/v2/alerts', 'GenieKey secret-key']);
  expect(request?.body).toMatchObject({ alias: '0b9f', tags: ['svc', 'failed'], details: { dag: 'shop' } });
  const over = await send('opsgenie', OVER);
  expect(over.request?.path).toBe('/v2/alerts/0b9f/close?identifierType=alias');
});

it('Teams gets an adaptive card whose texts are not read as Markdown', async () => {
  const { request } = await send('teams', MESSAGE, { password: `${receiver.url}/workflow` });
  expect(request?.path).toBe('/workflow');
  const [attachment] = (request?.body['attachments'] ?? []) as { contentType: string; content: { body: object[] } }[];
  expect(attachment?.contentType).toBe('application/vnd.microsoft.card.adaptive');
  expect(attachment?.content.body[0]).toMatchObject({ type: 'RichTextBlock', inlines: [{ text: MESSAGE.title }] });
});

it('a mail has its facts as text, one Message-ID for all repetitions, and no line break in its subject', async () => {
  const server = await startSmtpReceiver();
  try {
    const connection = {
      host: '127.0.0.1',
      port: server.port,
      login: 'svc@example.com',
      extra: '{"disable_ssl": true, "disable_tls": true}',
    };
    const message = { ...MESSAGE, title: 'Überlauf in load\r\nBcc: all@example.com' };
    for (const each of [message, message, OVER]) await send('email', each, connection, 'a@example.com, b@example.com');
    const [first, again, over] = server.mails;
    expect(first).toMatchObject({
      from: 'svc@example.com',
      to: ['a@example.com', 'b@example.com'],
      login: 'svc@example.com',
      headers: { subject: 'Überlauf in load Bcc: all@example.com' },
    });
    expect(first?.headers).not.toHaveProperty('bcc');
    expect(first?.text).toContain('at shop.py:12\ntry: fix it');
    expect(again?.headers['message-id']).toBe(first?.headers['message-id']);
    expect(over?.headers['in-reply-to']).toBe(first?.headers['message-id']);
    await expect(
      send('email', MESSAGE, { ...connection, extra: '{"disable_ssl": true}' }, 'a@example.com'),
    ).rejects.toThrow('offers no STARTTLS');
  } finally {
    await server.close();
  }
});

it('a refused request names the status, and neither the address nor the secret', async () => {
  receiver.answerWith(() => ({ status: 403, body: { error: 'secret-key is wrong' } }));
  await expect(send('opsgenie', MESSAGE)).rejects.toThrow(/^the channel answered with status 403$/);
  const nowhere = { password: 'http://127.0.0.1:1/T/B/secret' };
  await expect(send('slack_webhook', MESSAGE, nowhere)).rejects.toThrow(/^127\.0\.0\.1: ECONNREFUSED$/);
});
