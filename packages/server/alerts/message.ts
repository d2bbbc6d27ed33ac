/** One message of an alert, independent of the channel. All texts are masked and limited. */
export type MessageKind = 'open' | 'update' | 'over' | 'test';

export type AlertMessage = {
  /** The id of the alert. Together with the kind it identifies the message, however often it is sent. */
  alertId: string;
  kind: MessageKind;
  rule: string;
  event: string;
  /** One line. */
  title: string;
  /** At most `MAX_TEXT` characters. */
  text: string;
  fields: readonly { name: string; value: string }[];
  link: string | null;
  failures: number;
  dags: readonly string[];
  cause: string;
  openedAt: string;
  /** What the channel called the first message. */
  reference: string | null;
};

export const MAX_TEXT = 600;

/** Equal for each repetition of one message. An update is another message for each count of failures. */
export const idempotencyKey = ({ alertId, kind, failures }: AlertMessage): string =>
  kind === 'update' ? `${alertId}:update:${failures}` : `${alertId}:${kind}`;
