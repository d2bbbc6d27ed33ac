/** Slack: an incoming webhook, or a bot, which changes its message when more failures come. */
import type { AlertMessage } from '../message.ts';
import { ChannelError } from '../outbound.ts';
import type { OutboundAnswer } from '../outbound.ts';
import { addressOf, fullText, json, pathOf, secretOf } from './channel.ts';
import type { ChannelTarget, HttpChannel } from './channel.ts';

/** Slack reads `<`, `>` and `&` as its own markup: a task must not be able to mention a channel or hide a link. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function contentOf(message: AlertMessage) {
  const mark = message.kind === 'over' ? ':white_check_mark:' : ':red_circle:';
  const body = [`${mark} *${escaped(message.title)}*`, escaped(message.text)].filter((part) => part !== '').join('\n');
  const section = { type: 'section', text: { type: 'mrkdwn', text: body } };
  const fields = message.fields.map(({ name, value }) => `*${escaped(name)}:* ${escaped(value)}`).join('  ');
  const link = message.link === null ? '' : `<${message.link}|Open in svc>`;
  const context = [fields, link].filter((part) => part !== '').join('  ');
  return {
    text: escaped(fullText(message)),
    blocks: [
      section,
      ...(context === '' ? [] : [{ type: 'context', elements: [{ type: 'mrkdwn', text: context.slice(0, 2_000) }] }]),
    ],
    unfurl_links: false,
  };
}

/** The password is the address, or its part after `/services/`, as in Airflow's connections of this kind. */
export const SLACK_WEBHOOK: HttpChannel = {
  canUpdate: false,
  request(message, target) {
    const secret = secretOf(target);
    const base = addressOf(target, 'https://hooks.slack.com/services');
    return json(/^https?:\/\//.test(secret) ? secret : pathOf(base, secret), contentOf(message));
  },
};

export const SLACK_BOT: HttpChannel = {
  canUpdate: true,
  request(message, target) {
    const { channel, ts } = placeOf(message, target);
    const method = ts === null ? 'chat.postMessage' : 'chat.update';
    // The end is a message of its own, in the thread of the first.
    const isAnswer = message.kind === 'over' && ts !== null;
    return json(
      pathOf(addressOf(target, 'https://slack.com/api'), isAnswer ? 'chat.postMessage' : method),
      {
        channel,
        ...contentOf(message),
        ...(isAnswer ? { thread_ts: ts, reply_broadcast: true } : ts !== null && { ts }),
      },
      { authorization: `Bearer ${secretOf(target)}` },
    );
  },
  reference(answer) {
    const { ok, error, channel, ts } = readAnswer(answer);
    if (ok === true) return typeof ts === 'string' ? `${String(channel)} ${ts}` : null;
    const isPermanent = ['invalid_auth', 'channel_not_found', 'not_in_channel', 'account_inactive'].includes(
      String(error),
    );
    throw new ChannelError(`Slack refused the message: ${String(error).slice(0, 100)}`, { isPermanent });
  },
};

function placeOf({ reference }: AlertMessage, { target }: ChannelTarget): { channel: string; ts: string | null } {
  const [channel, ts] = reference?.split(' ') ?? [];
  if (channel !== undefined && ts !== undefined) return { channel, ts };
  if (target !== '') return { channel: target, ts: null };
  throw new ChannelError('the rule names no channel of Slack: set its target', { isPermanent: true });
}

function readAnswer({ text }: OutboundAnswer): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { ok: false, error: 'the answer is no JSON' };
  }
}
