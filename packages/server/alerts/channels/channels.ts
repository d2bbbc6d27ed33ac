/** All channels by name, and sending one message through one of them. */
import type { AlertChannel } from '@svc/spec/alerts/alert-events.ts';
import { idempotencyKey } from '../message.ts';
import type { AlertMessage } from '../message.ts';
import { ChannelError } from '../outbound.ts';
import type { Post } from '../outbound.ts';
import type { ChannelTarget, HttpChannel } from './channel.ts';
import { sendByMail } from './email.ts';
import { OPSGENIE, PAGERDUTY } from './on-call.ts';
import { SLACK_BOT, SLACK_WEBHOOK } from './slack.ts';
import type { SendMail } from './smtp.ts';
import { TEAMS } from './teams.ts';
import { WEBHOOK } from './webhook.ts';

const HTTP_CHANNELS: Record<Exclude<AlertChannel, 'email'>, HttpChannel> = {
  webhook: WEBHOOK,
  slack_webhook: SLACK_WEBHOOK,
  slack_bot: SLACK_BOT,
  pagerduty: PAGERDUTY,
  opsgenie: OPSGENIE,
  teams: TEAMS,
};

type HttpChannelName = keyof typeof HTTP_CHANNELS;

const isHttpChannel = (name: string): name is HttpChannelName => Object.hasOwn(HTTP_CHANNELS, name);

/** True if the channel can change a sent message. */
export const canUpdate = (name: string): boolean => isHttpChannel(name) && HTTP_CHANNELS[name].canUpdate;

export type Carriers = { post: Post; sendMail: SendMail };

/** Returns what the channel calls the message, or null. Throws a `ChannelError`. */
export async function sendMessage(
  { post, sendMail }: Carriers,
  name: string,
  message: AlertMessage,
  target: ChannelTarget,
): Promise<string | null> {
  if (name === 'email') {
    await sendByMail(sendMail, message, target);
    return null;
  }
  if (!isHttpChannel(name)) throw new ChannelError(`there is no channel ${name}`, { isPermanent: true });
  const channel: HttpChannel = HTTP_CHANNELS[name];
  const request = channel.request(message, target);
  const headers = { ...request.headers, 'idempotency-key': idempotencyKey(message), 'user-agent': 'svc' };
  const answer = await post({ ...request, headers });
  if (answer.status < 200 || answer.status > 299) {
    // A request that is wrong now is wrong later, except when there are too many of them.
    const isPermanent = answer.status >= 400 && answer.status < 500 && ![408, 409, 425, 429].includes(answer.status);
    throw new ChannelError(`the channel answered with status ${answer.status}`, { isPermanent });
  }
  return channel.reference?.(answer) ?? null;
}
