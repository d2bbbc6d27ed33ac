/** Alert rules and alerts as JSON. */
import { Type } from 'typebox';
import { ALERT_CHANNELS, ALERT_EVENTS } from '@svc/spec/alerts/alert-events.ts';
import type { AlertEvent } from '@svc/spec/alerts/alert-events.ts';
import { DateTime, Nullable } from '../../http/schemas.ts';

const Text = Type.String();
const NullText = Nullable(Text);
const Moment = Nullable(DateTime);

const Globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 250 }), { maxItems: 50, default: [], description });
const Seconds = (description: string) => Type.Optional(Type.Number({ minimum: 1, maximum: 31_536_000, description }));
const TimeOfDay = (description: string) =>
  Type.Optional(Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description }));

export const CreateAlertRuleBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w][\\w .-]*$' }),
    events: Type.Array(Type.Enum([...ALERT_EVENTS] as AlertEvent[]), {
      minItems: 1,
      maxItems: ALERT_EVENTS.length,
      uniqueItems: true,
      description: '`recovered` adds a message when an alert is over',
    }),
    dags: Globs('Ids of DAGs, with `*` and `?`; of broken files their names. Empty: all'),
    tags: Globs('Tags of the DAG, one of which must match. Empty: any'),
    owners: Globs('Owners of the DAG, one of which must match. Empty: any'),
    tasks: Globs('Ids of tasks. Empty: any'),
    after_tries: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 1,
      description: 'Of `retried`: from which failed try on',
    }),
    late_seconds: Seconds('Of `late`: a run that is not finished this long after it was due'),
    late_factor: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 1_000,
        description:
          'Of `late`: a run that takes this many times its own 95th percentile. Default: 2, without `late_seconds`',
      }),
    ),
    stuck_seconds: Seconds('Of `stuck`: a task that waits this long for a worker or a slot. Default: 900'),
    stale_seconds: Seconds('Of `stale_schedule`: a next run that is overdue by this much. Default: 600'),
    channel: Type.Enum([...ALERT_CHANNELS]),
    connection_id: Type.String({ minLength: 1, maxLength: 200, description: 'The connection with address and secret' }),
    target: Type.String({
      maxLength: 1_000,
      default: '',
      description: 'The channel of a Slack bot, or mail addresses, separated by commas',
    }),
    quiet_from: TimeOfDay('Start of the quiet hours, such as 22:00'),
    quiet_until: TimeOfDay('End of the quiet hours. Messages wait until then'),
    quiet_timezone: Type.Optional(Type.String({ maxLength: 100, description: 'Default: UTC' })),
  },
  { title: 'CreateAlertRuleBody', additionalProperties: false },
);

export const AlertRule = Type.Object(
  {
    id: Text,
    name: Text,
    source: Type.String({ description: 'Empty: made by a user. Otherwise the DAG that defines it' }),
    events: Type.Array(Text),
    dags: Type.Array(Text),
    tags: Type.Array(Text),
    owners: Type.Array(Text),
    tasks: Type.Array(Text),
    after_tries: Type.Integer(),
    late_seconds: Nullable(Type.Number()),
    late_factor: Nullable(Type.Number()),
    stuck_seconds: Nullable(Type.Number()),
    stale_seconds: Nullable(Type.Number()),
    channel: Text,
    connection_id: Text,
    target: Text,
    quiet_from: NullText,
    quiet_until: NullText,
    quiet_timezone: NullText,
    muted_until: Moment,
    failing_since: Nullable(Type.String({ format: 'date-time', description: 'Since when its channel fails' })),
    last_error: NullText,
    last_sent_at: Moment,
    created_by: Text,
    created_at: DateTime,
  },
  { title: 'AlertRule' },
);

export const AlertRuleCollection = Type.Object(
  { rules: Type.Array(AlertRule), total_entries: Type.Integer() },
  { title: 'AlertRuleCollection' },
);

export const MuteAlertRuleBody = Type.Object(
  { until: Nullable(Type.String({ format: 'date-time', description: 'Null ends the mute' })) },
  { title: 'MuteAlertRuleBody', additionalProperties: false },
);

export const AlertTestResult = Type.Object(
  { sent: Type.Boolean(), message: Type.String({ description: 'What the channel answered, or why it failed' }) },
  { title: 'AlertTestResult' },
);

export const Alert = Type.Object(
  {
    id: Text,
    rule_id: Text,
    rule: Text,
    channel: Text,
    event: Text,
    cause: Text,
    status: Type.Enum(['open', 'over'] as ('open' | 'over')[]),
    dag_id: Text,
    task_id: Text,
    failures: Type.Integer(),
    opened_at: DateTime,
    last_at: DateTime,
    over_at: Moment,
    acknowledged_at: Moment,
    acknowledged_by: NullText,
    messages: Type.Integer({ description: 'How many messages were sent' }),
    sent_text: NullText,
    sent_at: Moment,
    due_at: Nullable(Type.String({ format: 'date-time', description: 'When the next message is to be sent' })),
    tries: Type.Integer({ description: 'Failed tries of the next message' }),
    last_error: NullText,
  },
  { title: 'Alert' },
);

export const AlertCollection = Type.Object(
  { alerts: Type.Array(Alert), total_entries: Type.Integer() },
  { title: 'AlertCollection' },
);
