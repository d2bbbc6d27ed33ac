/** The message of `svc alerts test`. */
import { randomUUID } from 'node:crypto';
import type { AlertMessage } from './message.ts';

export const testMessage = ({ rule, user }: { rule: string; user: string }): AlertMessage => ({
  alertId: randomUUID(),
  kind: 'test',
  rule,
  event: 'test',
  title: `Test of the alert rule ${rule}`,
  text: `${user} sent this message to see whether the channel works. Nothing failed.`,
  fields: [{ name: 'rule', value: rule }],
  link: null,
  failures: 0,
  dags: [],
  cause: '',
  openedAt: new Date().toISOString(),
  reference: null,
});
