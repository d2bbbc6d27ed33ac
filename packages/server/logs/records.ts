/**
 * One stored line: a record as JSON (`{"timestamp","level","logger","event",…}`). Whatever a line contains, readers
 * receive a record that they can show. The web UI refuses a whole log because of one line without `event`, with a null
 * `logger`, or with an `error_detail` of another shape. Airflow's client refuses a log because of an invalid timestamp.
 */
import type { Line } from './lines.ts';

export type LogRecord = {
  readonly event: string;
  readonly timestamp?: string | null;
  readonly level?: string;
  readonly logger?: string;
  readonly error_detail?: readonly ErrorDetail[];
  readonly [key: string]: unknown;
};

type ErrorDetail = {
  exc_type?: unknown;
  exc_value?: unknown;
  frames: { filename?: unknown; lineno?: unknown; name?: unknown }[];
};

export type ReadRecord = {
  record: LogRecord;
  /** The record as one line of JSON. This is the stored text if that text is valid. */
  json: string;
};

/** For a line that is too long or is not a record, this many characters are shown. */
const SHOWN_OF_CUT_LINE = 10_000;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/;

/** Returns undefined for a blank line. */
export function readRecord({ text, cutBytes }: Line): ReadRecord | undefined {
  if (cutBytes > 0) {
    const bytes = Buffer.byteLength(text) + cutBytes;
    return plain(`${text.slice(0, SHOWN_OF_CUT_LINE).toWellFormed()}… (a line of ${bytes} bytes, cut)`);
  }
  if (text === '' || text.trim() === '') return undefined;
  const value = parsed(text);
  if (!isObject(value)) return plain(text);
  const record = once(showable(value));
  return record === value ? { record: value as LogRecord, json: text } : { record, json: JSON.stringify(record) };
}

/**
 * Drops `error_detail` if the text contains the traceback. The web UI would show both, and the text also has the source
 * lines.
 */
function once(record: LogRecord): LogRecord {
  const { error_detail: errors, ...others } = record;
  return errors && hasTraceback(record) ? others : record;
}

const hasTraceback = ({ event }: LogRecord): boolean => event.includes('Traceback (most recent call last)');

function plain(event: string): ReadRecord {
  const record = { timestamp: null, event };
  return { record, json: JSON.stringify(record) };
}

function parsed(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // truncated by a crash, or not written by an agent
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value itself if it is valid. */
function showable(value: Record<string, unknown>): LogRecord {
  if (typeof value['event'] === 'string' && CHECKS.every((check) => passes(value, check))) return value as LogRecord;
  const wrong = new Set(CHECKS.filter((check) => !passes(value, check)).map(([key]) => key));
  const kept = Object.fromEntries(Object.entries(value).filter(([key]) => !wrong.has(key)));
  return { ...kept, event: textOf(value['event']) };
}

type Check = readonly [key: string, holds: (value: unknown) => boolean];

const CHECKS: readonly Check[] = [
  ['timestamp', (value) => value === null || isTimestamp(value)],
  ['level', (value) => typeof value === 'string'],
  ['logger', (value) => typeof value === 'string'],
  [
    'error_detail',
    (value) => Array.isArray(value) && value.every((part) => isObject(part) && Array.isArray(part['frames'])),
  ],
];

const passes = (value: Record<string, unknown>, [key, holds]: Check): boolean =>
  value[key] === undefined || holds(value[key]);

const isTimestamp = (value: unknown): boolean =>
  typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));

function textOf(event: unknown): string {
  if (event === undefined || event === null) return '';
  return typeof event === 'string' ? event : JSON.stringify(event);
}

/** Fields that the page or path of a log shows once, instead of every line. */
const NOT_IN_TEXT = new Set(
  (
    'timestamp level event logger filename lineno loc chan error_detail ' +
    'ti_id dag_id task_id run_id try_number map_index'
  ).split(' '),
);

/**
 * Formats a record for people: `[2026-11-15T06:31:12.123456Z] INFO - message key=value`, with as many lines as the
 * message has.
 */
export function textLines(record: LogRecord): string[] {
  const { timestamp, level, event } = record;
  const [first = '', ...rest] = event.split(/\r?\n/);
  if (rest.at(-1) === '') rest.pop(); // a message that ends with a line break has no empty last line
  const when = timestamp ? `[${timestamp}] ` : '';
  const importance = level ? `${level.toUpperCase()} - ` : '';
  return [`${when}${importance}${first}${extras(record)}`, ...rest, ...traceback(record)];
}

function extras(record: LogRecord): string {
  let text = '';
  for (const [key, value] of Object.entries(record)) {
    if (NOT_IN_TEXT.has(key) || value === undefined) continue;
    text += ` ${key}=${typeof value === 'string' ? value.replaceAll('\n', String.raw`\n`) : JSON.stringify(value)}`;
  }
  return text;
}

/** Returns the traceback, unless the message contains it already. */
function traceback(record: LogRecord): string[] {
  const { error_detail: errors } = record;
  if (!errors || hasTraceback(record)) return [];
  return errors.flatMap(({ exc_type: type, exc_value: value, frames }) => [
    'Traceback (most recent call last):',
    ...frames.map((frame) => `  File "${show(frame?.filename)}", line ${show(frame?.lineno)}, in ${show(frame?.name)}`),
    `${show(type)}: ${show(value)}`,
  ]);
}

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '?'));
