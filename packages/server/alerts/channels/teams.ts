/** Microsoft Teams: a workflow webhook that takes an adaptive card. Its address is the password of the connection. */
import { ChannelError } from '../outbound.ts';
import { json, secretOf } from './channel.ts';
import type { HttpChannel } from './channel.ts';

export const TEAMS: HttpChannel = {
  canUpdate: false,
  request(message, target) {
    const url = secretOf(target);
    if (!/^https?:\/\//.test(url)) {
      throw new ChannelError(`the password of connection ${target.connection.connectionId} is no URL of a webhook`, {
        isPermanent: true,
      });
    }
    const color = message.kind === 'over' ? 'good' : 'attention';
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        plain(message.title, { weight: 'bolder', color }),
        ...message.text.split('\n').map((line) => plain(line)),
        { type: 'FactSet', facts: message.fields.map(({ name, value }) => ({ title: name, value })) },
      ],
      ...(message.link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open in svc', url: message.link }] }),
    };
    return json(url, {
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }],
    });
  },
};

/** A text run is shown as it is: Markdown of a task has no effect. */
const plain = (text: string, more: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...more }],
});
