/** The events that a rule may name, and the channels. */
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
