/** Options that describe a run: its conf and dates. */
import { isRawNumber, parseExact } from '@svc/spec/exact-json.ts';
import { InvalidArgumentError } from 'commander';
import { usageError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { readStdin } from '../prompt.ts';
import type { SvcCommand } from '../svc-command.ts';

export type ConfOptions = { conf?: string; param: string[] };

export const collect = (value: string, previous: readonly string[]): string[] => [...previous, value];

export const withConfOptions = (command: SvcCommand): SvcCommand =>
  command
    .option('--conf <json>', 'conf of the run, a JSON object; "-" reads it from standard input')
    .option(
      '--param <name=value>',
      'one entry of the conf, over what --conf says; may be repeated. The value is JSON where it reads as JSON (3, true, [1]), else text',
      collect,
      [],
    );

export async function confOf(context: CliContext, { conf, param }: ConfOptions): Promise<Record<string, unknown>> {
  const text = conf === '-' ? await readStdin(context) : conf;
  return { ...(text === undefined ? {} : parseConf(text)), ...Object.fromEntries(param.map(parseParam)) };
}

function parseConf(text: string): object {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    throw usageError(`--conf is no JSON: ${text.slice(0, 200)}`, `quote it for the shell: --conf '{"name": "value"}'`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)) return value;
  throw usageError('--conf must be a JSON object', `for example: --conf '{"name": "value"}'`);
}

export function parseParam(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw usageError(`--param is ${JSON.stringify(text)}: give a name and a value, as in --param day=monday`);
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  try {
    return [name, parseExact(value)];
  } catch {
    return [name, value];
  }
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const WITH_ZONE = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i;

/**
 * Converts a moment for the API. Without a time zone it is UTC, as on the control plane, not the zone of this machine.
 */
export const parseMoment = (text: string): string => momentOf(text, '00:00:00');

/** Works like parseMoment, but a date includes the whole day. */
export const parseLastMoment = (text: string): string => momentOf(text, '23:59:59');

function momentOf(text: string, timeOfDay: string): string {
  const moment = DAY.test(text) ? `${text}T${timeOfDay}Z` : WITHOUT_ZONE.test(text) ? `${text}Z` : text;
  const full = moment
    .replace(' ', 'T')
    .replace(/T(\d{2}:\d{2})(?=Z|[+-])/i, 'T$1:00')
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  if (!WITH_ZONE.test(moment) || !isOnCalendar(full)) {
    throw new InvalidArgumentError('Give a date such as 2026-01-31, 2026-01-31T06:00 (UTC) or 2026-01-31T06:00+02:00.');
  }
  return full;
}

/** `Date.parse` turns 30 February into 2 March. */
function isOnCalendar(moment: string): boolean {
  const day = moment.slice(0, 10);
  const parsed = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(moment)) && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day);
}

export function parseCount(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('Give a number of at least 1.');
  return number;
}
