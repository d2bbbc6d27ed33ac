/** The events and the channels that an alert rule may name. */
export const ALERT_EVENTS = [
  'failed',
  'retried',
  'lost_worker',
  'broken_file',
  'late',
  'stuck',
  'stale_schedule',
  'recovered',
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

export const isAlertEvent = (word: string): word is AlertEvent => (ALERT_EVENTS as readonly string[]).includes(word);

/** Where a message of a rule goes. */
export const ALERT_CHANNELS = [
  'webhook',
  'slack_webhook',
  'slack_bot',
  'pagerduty',
  'opsgenie',
  'teams',
  'email',
] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];
