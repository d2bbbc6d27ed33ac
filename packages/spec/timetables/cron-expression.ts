// Parses cron expressions as Airflow does (croniter, observed from outside): minute hour day month weekday [second
// [year]].
//
// Unusual rules, which are intended:
//
//   1-1, 59/5     from a value to itself is the whole range by that step, not one value
//   22-2, fri-mon a range may wrap; after the wrap, a step continues only if it jumped over the end
//   5/15          from 5 to the end by 15
//   L, 1-L        last day of the month, in the day field only; L5 last Friday; 5#2 second Friday
//   15W           working day nearest to the 15th; it must be alone in the field
//   ?             as *, in the two day fields only and alone
//   *,5           counts as *: the field restricts nothing, which matters for the next rule
//   day + weekday both given: a day matches when either does. A field that names every value (`*/1`, `0-6`) still
//                 counts as given, unless there is a * anywhere in the other one.
//   7             Sunday, but only with five fields; with six, day 0 is read as 1 instead
//
// H (hashed) needs an identity that Airflow never passes, so Airflow refuses it as well. R (random) would give another
// schedule at every evaluation, so it is refused here.

export interface DayRule {
  /** Bit d = day d of the month; null = any. */
  readonly daysOfMonth: number | null;
  readonly lastDayOfMonth: boolean;
  /** Bit 0 = Sunday; null = any. */
  readonly weekdays: number | null;
  /** If present, the weekday must also have this place in the month: weekday -> 1..5, or 6 for the last. */
  readonly nthWeekdays: ReadonlyMap<number, readonly number[]> | null;
  /** The rule matches the working day nearest to this day of the month. */
  readonly nearestWorkday: number | null;
}

export interface CronExpression {
  readonly source: string;
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  /** Null = every year. */
  readonly years: readonly number[] | null;
  /** One rule, or two if day and weekday are both restricted. Either may match, but each must match at some time. */
  readonly dayRules: readonly DayRule[];
  /**
   * True if the hour field names every hour. The schedule then runs in every hour of real time, even when clocks
   * change.
   */
  readonly everyHour: boolean;
}

export type CronParse =
  | { readonly ok: true; readonly cron: CronExpression }
  | { readonly ok: false; readonly problem: string };

export const LAST_OF_MONTH = 6;

interface FieldShape {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** A number with the meaning of another one: 7 is Sunday. */
  readonly alias?: readonly [number, number];
  readonly words?: Readonly<Record<string, number>>;
}

const numbered = (names: string, first: number): Record<string, number> =>
  Object.fromEntries(names.split(' ').map((name, index) => [name, index + first]));

const MINUTE: FieldShape = { name: 'minute', min: 0, max: 59 };
const HOUR: FieldShape = { name: 'hour', min: 0, max: 23 };
const DAY: FieldShape = { name: 'day of month', min: 1, max: 31, words: { l: 31 } };
const MONTH: FieldShape = {
  name: 'month',
  min: 1,
  max: 12,
  words: numbered('jan feb mar apr may jun jul aug sep oct nov dec', 1),
};
const WEEKDAY: FieldShape = { name: 'day of week', min: 0, max: 6, words: numbered('sun mon tue wed thu fri sat', 0) };
const SECOND: FieldShape = { name: 'second', min: 0, max: 59 };
const YEAR: FieldShape = { name: 'year', min: 1970, max: 2099 };

const DAY_IN_SIX: FieldShape = { ...DAY, alias: [0, 1] };
const WEEKDAY_IN_FIVE: FieldShape = { ...WEEKDAY, alias: [7, 0] };

// Airflow's own presets. Its answers contain the expression instead of the preset.
const AIRFLOW_PRESETS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@quarterly': '0 0 1 */3 *',
  '@yearly': '0 0 1 1 *',
};

// Names that croniter knows, in any letter case. They work, but they keep their name and have no description.
const CRONITER_ALIASES: Readonly<Record<string, string>> = {
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** Returns the expression that Airflow shows: its presets are replaced, all other texts are unchanged. */
export const resolvePreset = (expression: string): string => AIRFLOW_PRESETS[expression] ?? expression;

class Refused extends Error {}

const refuse = (field: FieldShape, text: string, why: string): never => {
  throw new Refused(`${field.name} field "${text}": ${why}`);
};

const range = (from: number, to: number, step: number): number[] => {
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return values;
};

/** Expands a range that passes the end of the field and continues at its start: `22-2`, `nov-feb/2`. */
const wrappedRange = ({
  field,
  from,
  to,
  step,
}: {
  field: FieldShape;
  from: number;
  to: number;
  step: number;
}): number[] => {
  const head = range(from, field.max, step);
  const last = head.at(-1);
  let skip = 0;
  if (last !== undefined) {
    const size = field.max - field.min + 1;
    const position = last - field.min;
    if (position + step > size) skip = Math.max(0, step - (size - 1 - position));
  }
  return [...head, ...range(field.min + skip, to, step)];
};

const outOfRange = (field: FieldShape, value: number, whole: string): never =>
  refuse(field, whole, `${value} is not within ${field.min}-${field.max}`);

const readNumber = (field: FieldShape, text: string, whole: string): number => {
  const word = field.words?.[text];
  if (word !== undefined) return word;
  if (!/^\d+$/.test(text)) refuse(field, whole, `"${text}" is not a number${field.words ? ' or a known name' : ''}`);
  const value = Number(text);
  if (value === field.alias?.[0]) return field.alias[1];
  return value > field.max ? outOfRange(field, value, whole) : value;
};

const readStart = (field: FieldShape, text: string, whole: string): number => {
  const value = readNumber(field, text, whole);
  return value < field.min ? outOfRange(field, value, whole) : value;
};

const readStep = (field: FieldShape, text: string, whole: string): number => {
  if (!/^\d+$/.test(text) || Number(text) === 0) refuse(field, whole, `the step "${text}" must be a number above 0`);
  return Number(text);
};

/** Returns the values of one element of a comma list. */
const readElement = (field: FieldShape, element: string): number[] => {
  const [body = '', stepText, ...rest] = element.split('/');
  if (rest.length > 0) refuse(field, element, 'only one step is allowed');
  const step = stepText === undefined ? 1 : readStep(field, stepText, element);
  if (body === '*') return range(field.min, field.max, step);
  const [fromText = '', toText, ...more] = body.split('-');
  if (more.length > 0) refuse(field, element, 'a range has one start and one end');
  if (fromText === 'l') refuse(field, element, 'L can end a range of days but not start one');
  const from = readStart(field, fromText, element);
  if (toText === undefined && stepText === undefined) return [from];
  // The end of a range may be below the first value of the field (`5-0`). The range then stops where it would wrap.
  const to = toText === undefined ? field.max : readNumber(field, toText, element);
  if (from === to) return range(field.min, field.max, step);
  return from > to ? wrappedRange({ field, from, to, step }) : range(from, to, step);
};

const ascending = (values: Iterable<number>): number[] => [...new Set(values)].toSorted((a, b) => a - b);

const elementsOf = (text: string): string[] => text.split(',');

const hasStar = (text: string): boolean => elementsOf(text).includes('*');

const readField = (field: FieldShape, text: string): number[] =>
  ascending(elementsOf(text).flatMap((element) => readElement(field, element)));

const maskOf = (values: readonly number[]): number => values.reduce((mask, value) => mask | (1 << value), 0);

const isFull = (field: FieldShape, count: number): boolean => count === field.max - field.min + 1;

/**
 * True for a list of only `*`, or of every value. A `*` next to numbers counts as one more value, because Airflow
 * counts it so.
 */
const namesAll = (field: FieldShape, text: string): boolean => {
  const numbers = elementsOf(text).filter((element) => element !== '*');
  const values = ascending(numbers.flatMap((element) => readElement(field, element)));
  return numbers.length === 0 || isFull(field, values.length + (hasStar(text) ? 1 : 0));
};

type MonthDays = Pick<DayRule, 'daysOfMonth' | 'lastDayOfMonth' | 'nearestWorkday'>;

const readDaysOfMonth = (field: FieldShape, text: string, weekdayText: string): MonthDays => {
  const any = { daysOfMonth: null, lastDayOfMonth: false, nearestWorkday: null };
  if (text === '?') return any;
  const workday = /^(\d+)w$/.exec(text)?.[1];
  if (workday !== undefined) return { ...any, nearestWorkday: readStart(field, workday, text) };
  if (text.includes('w')) refuse(field, text, 'W stands after a single day and alone, as in 15W');
  const elements = elementsOf(text);
  const lastDayOfMonth = elements.includes('l');
  const values = ascending(elements.flatMap((element) => (element === 'l' ? [] : readElement(field, element))));
  const everyDay = isFull(field, values.length) && !lastDayOfMonth && weekdayText.includes('*');
  if (elements.includes('*') || everyDay) return any;
  return { ...any, daysOfMonth: maskOf(values), lastDayOfMonth };
};

type WeekDays = Pick<DayRule, 'weekdays' | 'nthWeekdays'>;

interface NthWeekday {
  readonly weekday: number;
  /** 1..5, or LAST_OF_MONTH. */
  readonly which: number;
}

/** Reads `5#2` or `L5`; returns null for any other element. */
const readNthWeekday = (field: FieldShape, element: string): NthWeekday | null => {
  const [, day, which, lastDay] = /^(\w+)#(\d+)$|^l(\d)$/.exec(element) ?? [];
  if (day === undefined && lastDay === undefined) return null;
  const weekday = readStart(field, day ?? lastDay ?? '', element);
  if (which === undefined) return { weekday, which: LAST_OF_MONTH };
  if (Number(which) < 1 || Number(which) > 5) {
    refuse(field, element, `#${which} must be #1 to #5 (L${weekday} is the last of the month)`);
  }
  return { weekday, which: Number(which) };
};

const readWeekdays = (field: FieldShape, text: string, dayText: string): WeekDays => {
  if (text === '?') return { weekdays: null, nthWeekdays: null };
  const nth = new Map<number, number[]>();
  const plain: number[] = [];
  for (const element of elementsOf(text)) {
    if (element === '*') continue;
    const found = readNthWeekday(field, element);
    if (found === null) plain.push(...readElement(field, element));
    else nth.set(found.weekday, [...(nth.get(found.weekday) ?? []), found.which]);
  }
  const values = ascending([...plain, ...nth.keys()]);
  const star = hasStar(text);
  const everyDay = isFull(field, values.length + (star ? 1 : 0));
  if (nth.size > 0 && !everyDay && plain.some((value) => !nth.has(value))) {
    refuse(field, text, 'plain weekdays cannot be mixed with # or L');
  }
  const any = star || (everyDay && dayText.includes('*'));
  return { weekdays: any ? null : maskOf(values), nthWeekdays: nth.size > 0 ? nth : null };
};

/** Either field may match. W and # apply to both rules, as in Airflow. */
const combineDays = (month: MonthDays, week: WeekDays): DayRule[] => {
  const both = { ...month, ...week };
  const monthGiven = month.daysOfMonth !== null || month.nearestWorkday !== null;
  if (!monthGiven || week.weekdays === null) return [both];
  return [
    { ...both, weekdays: null },
    { ...both, daysOfMonth: null, lastDayOfMonth: false },
  ];
};

const checkQuestionMarks = (fields: readonly string[]): void => {
  for (const [index, text] of fields.entries()) {
    if (!text.includes('?') || (text === '?' && (index === 2 || index === 4))) continue;
    throw new Refused(`"?" may only stand alone, in the day-of-month or the day-of-week field (found in "${text}")`);
  }
};

const readFields = (source: string): CronExpression => {
  const fields = source
    .toLowerCase()
    .split(/\s+/)
    .filter((text) => text !== '');
  if (fields.length < 5 || fields.length > 7) {
    throw new Refused(
      `expected 5 fields (minute hour day month weekday), 6 (+ second) or 7 (+ year), found ${fields.length}`,
    );
  }
  const [minute = '', hour = '', day = '', month = '', weekday = '', second = '0', year = '*'] = fields;
  const special = fields.find((text) => /^[hr](\W|$)/.test(text));
  if (special !== undefined)
    throw new Refused(`"${special}": hashed (H) and random (R) values are not supported, write a number`);
  checkQuestionMarks(fields);
  const dayField = fields.length === 6 ? DAY_IN_SIX : DAY;
  const weekdayField = fields.length === 5 ? WEEKDAY_IN_FIVE : WEEKDAY;
  return {
    source,
    minutes: readField(MINUTE, minute),
    hours: readField(HOUR, hour),
    dayRules: combineDays(readDaysOfMonth(dayField, day, weekday), readWeekdays(weekdayField, weekday, day)),
    months: readField(MONTH, month),
    seconds: readField(SECOND, second),
    years: hasStar(year) ? null : readField(YEAR, year),
    everyHour: namesAll(HOUR, hour),
  };
};

export const parseCron = (expression: string): CronParse => {
  const source = CRONITER_ALIASES[expression.toLowerCase()] ?? resolvePreset(expression);
  try {
    return { ok: true, cron: readFields(source) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const advice = 'Example: "30 6 * * mon-fri".';
    return { ok: false, problem: `cron expression "${expression}" is not valid: ${error.message}. ${advice}` };
  }
};
