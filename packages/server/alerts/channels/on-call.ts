/** Services that call people: PagerDuty (Events v2) and Opsgenie. The id of the alert makes repetitions one incident. */
import type { AlertMessage } from '../message.ts';
import { addressOf, json, pathOf, secretOf } from './channel.ts';
import type { HttpChannel } from './channel.ts';

const detailsOf = (message: AlertMessage): Record<string, string> => ({
  text: message.text,
  ...Object.fromEntries(message.fields.map(({ name, value }) => [name, value])),
});

export const PAGERDUTY: HttpChannel = {
  canUpdate: true,
  request(message, target) {
    const event = {
      routing_key: secretOf(target),
      event_action: message.kind === 'over' ? 'resolve' : 'trigger',
      dedup_key: message.alertId,
      payload: {
        summary: message.title.slice(0, 1_024),
        source: message.dags[0] ?? 'svc',
        severity: message.event === 'retried' ? 'warning' : 'error',
        timestamp: message.openedAt,
        component: message.dags[0] ?? 'svc',
        class: message.cause || message.event,
        custom_details: detailsOf(message),
      },
      ...(message.link !== null && { links: [{ href: message.link, text: 'Open in svc' }] }),
    };
    return json(pathOf(addressOf(target, 'https://events.pagerduty.com'), 'v2/enqueue'), event);
  },
};

export const OPSGENIE: HttpChannel = {
  canUpdate: false,
  request(message, target) {
    const base = pathOf(addressOf(target, 'https://api.opsgenie.com'), 'v2/alerts');
    const headers = { authorization: `GenieKey ${secretOf(target)}` };
    if (message.kind === 'over') {
      const url = `${base}/${encodeURIComponent(message.alertId)}/close?identifierType=alias`;
      return json(url, { source: 'svc', note: message.title }, headers);
    }
    const alert = {
      message: message.title.slice(0, 130),
      alias: message.alertId,
      description: message.link === null ? message.text : `${message.text}\n${message.link}`,
      source: 'svc',
      tags: ['svc', message.event],
      details: Object.fromEntries(message.fields.map(({ name, value }) => [name, value])),
    };
    return json(base, alert, headers);
  },
};
