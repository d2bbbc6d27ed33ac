// Describes a cron expression in English with exactly the words that Airflow shows (`timetable_description`).
//
// Airflow's texts come from a general describer with its own reading of cron. Where that describer fails, its
// description is empty, and so is ours. Known oddities are kept, because users compare: "every hour" is omitted after
// anything else, and a list of steps reads clumsily.

interface Phrases {
  readonly any: string;
  readonly one: (text: string) => string;
  readonly every: (step: string) => string;
  readonly between: (from: string, to: string) => string;
  readonly list: (items: string) => string;
  /** Describes a value inside a list or phrase. Throws Indescribable for a value without a name. */
  readonly item: (text: string) => string;
  /** Describes the end of a range if its words differ from those of the start. */
  readonly rangeEnd?: (text: string) => string;
}

class Indescribable extends Error {}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const ORDINALS: Readonly<Record<string, string>> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', 5: 'fifth' };

const two = (value: number): string => String(value).padStart(2, '0');

const toNumber = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new Indescribable(text);
  return Number(text);
};

const clock = (hour: string, minute: string): string => `${two(toNumber(hour))}:${two(toNumber(minute))}`;

const named = (names: readonly string[], index: number): string => {
  const name = names[index];
  if (name === undefined) throw new Indescribable(String(index));
  return name;
};

const MINUTES: Phrases = {
  any: 'every minute',
  one: (text) => (text === '0' ? '' : `at ${text} minutes past the hour`),
  every: (step) => `every ${step} minutes`,
  between: (from, to) => `minutes ${from} through ${to} past the hour`,
  list: (items) => `at ${items} minutes past the hour`,
  item: (text) => text,
};

const HOURS: Phrases = {
  any: 'every hour',
  one: (text) => `at ${text}`,
  every: (step) => `every ${step} hours`,
  between: (from, to) => `between ${from} and ${to}`,
  list: (items) => `at ${items}`,
  item: (text) => clock(text, '0'),
  rangeEnd: (text) => clock(text, '59'),
};

const DAYS: Phrases = {
  any: '',
  one: (text) => `, on day ${text} of the month`,
  every: (step) => (step === '1' ? ', every day' : `, every ${step} days`),
  between: (from, to) => `, between day ${from} and ${to} of the month`,
  list: (items) => `, on day ${items} of the month`,
  item: (text) => text,
};

const MONTH_PHRASES: Phrases = {
  any: '',
  one: (text) => `, only in ${text}`,
  every: (step) => `, every ${step} months`,
  between: (from, to) => `, ${from} through ${to}`,
  list: (items) => `, only in ${items}`,
  item: (text) => named(MONTHS, toNumber(text) - 1),
};

const weekdayPhrases = (expression: string): Phrases => {
  const nth = expression.split('#')[1];
  const which = nth === undefined ? (expression.includes('L') ? 'last' : null) : (ORDINALS[nth] ?? '');
  const say = (items: string): string =>
    which === null ? `, only on ${items}` : `, on the ${which} ${items} of the month`;
  return {
    any: '',
    one: say,
    every: (step) => `, every ${step} days of the week`,
    between: (from, to) => `, ${from} through ${to}`,
    list: say,
    item: (text) => named(WEEKDAYS, toNumber(text.replace(/#.*$|L/g, ''))),
  };
};

const splitRange = (text: string): [string, string] => {
  const [from = '', to = ''] = text.split('-');
  return [from, to];
};

const rangeItems = (phrases: Phrases, text: string): [string, string] => {
  const [from, to] = splitRange(text);
  return [phrases.item(from), (phrases.rangeEnd ?? phrases.item)(to)];
};

const describeStep = (phrases: Phrases, text: string, inList: boolean): string => {
  const [body = '', step = ''] = text.split('/');
  const every = phrases.every(step);
  if (body.includes('-')) {
    const [from, to] = rangeItems(phrases, body);
    const between = inList ? `${from} through ${to}` : phrases.between(from, to);
    return `${every}${between.startsWith(', ') ? '' : ', '}${between}`;
  }
  if (body === '*') return every;
  const start = phrases.item(body);
  // Inside a list the start is omitted, but its comma stays.
  return inList ? `${every}, ` : `${every}, starting ${phrases.one(start).replace(', ', '')}`;
};

const joinItems = (items: readonly string[]): string => {
  const last = items.at(-1) ?? '';
  if (items.length <= 2) return items.join(' and ');
  return `${items.slice(0, -1).join(', ')}, and ${last}`;
};

const describeField = (phrases: Phrases, text: string): string => {
  if (text === '*') return phrases.any;
  if (text.includes(',')) {
    const items = text.split(',').map((item) => {
      if (item.includes('/')) return describeStep(phrases, item, true);
      return item.includes('-') ? rangeItems(phrases, item).join(' through ') : phrases.item(item);
    });
    return phrases.list(joinItems(items));
  }
  if (text.includes('/')) return describeStep(phrases, text, false);
  if (text.includes('-')) return phrases.between(...rangeItems(phrases, text));
  return phrases.one(phrases.item(text));
};

const isPlain = (text: string): boolean => !/[/\-,*]/.test(text);

const describeTime = (minute: string, hour: string): string => {
  if (isPlain(minute) && isPlain(hour)) return `at ${clock(hour, minute)}`;
  if (isPlain(hour) && minute.includes('-') && !/[,/]/.test(minute)) {
    const [from, to] = splitRange(minute);
    return `every minute between ${clock(hour, from)} and ${clock(hour, to)}`;
  }
  if (isPlain(minute) && hour.includes(',') && !hour.includes('-')) {
    const times = hour.split(',').map((each) => clock(each, minute));
    return `at ${times.slice(0, -1).join(', ')} and ${times.at(-1) ?? ''}`;
  }
  // A single hour becomes a range, because "every 5 minutes, at 03:00" would be wrong.
  const spanned = /[*/]/.test(minute) && isPlain(hour) ? `${hour}-${hour}` : hour;
  return [describeField(MINUTES, minute), describeField(HOURS, spanned)].filter((text) => text !== '').join(', ');
};

const describeDays = (day: string): string => {
  if (day === 'L') return ', on the last day of the month';
  const workday = /^(\d+)W$/.exec(day)?.[1];
  if (workday === undefined) return describeField(DAYS, day);
  return workday === '1'
    ? ', on the first weekday of the month'
    : `, on the weekday nearest day ${workday} of the month`;
};

const replaceNames = (text: string, names: readonly string[], first: number): string =>
  text.replace(/[a-z]{3}/gi, (word) => {
    const index = names.findIndex((name) => name.slice(0, 3).toLowerCase() === word.toLowerCase());
    return index === -1 ? word : String(index + first);
  });

const everyByOne = (text: string): string => (text === '*/1' || text === '?' ? '*' : text);

/** Writes `3/2` as a range, for fields whose values have names. */
const openRange = (text: string, last: number): string => text.replace(/^(\d+)\/(\d+)$/, `$1-${last}/$2`);

const sundayAsZero = (text: string): string => text.replace(/(?<![\d/#])7(?!\d)/g, '0');

// `0/5` means `*/5`. In a list, every occurrence is rewritten, even inside `10/5`, which then has no description.
const startAt = (text: string, first: number): string =>
  text.startsWith(`${first}/`) ? text.replaceAll(`${first}/`, '*/') : text;

const describeFields = ([minute = '', hour = '', day = '', month = '', weekday = '']: readonly string[]): string => {
  const months = openRange(replaceNames(startAt(month, 1), MONTHS, 1), 12);
  const weekdays = openRange(sundayAsZero(replaceNames(startAt(weekday, 1), WEEKDAYS, 0)).replace(/l(\d)/gi, '$1L'), 6);
  const parts = [
    describeTime(everyByOne(startAt(minute, 0)), everyByOne(startAt(hour, 0))),
    describeDays(everyByOne(startAt(day, 1))),
    describeField(weekdayPhrases(weekdays), everyByOne(weekdays)),
    describeField(MONTH_PHRASES, everyByOne(months)),
  ];
  const sentence = parts
    .join('')
    .replaceAll(', every minute', '')
    .replaceAll(', every hour', '')
    .replaceAll(', every day', '');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1).replace(/[, ]+$/, '');
};

/** Returns an empty text for what has no description: six or seven fields, and unresolved presets. */
export const cronDescription = (expression: string): string => {
  const fields = expression.split(/\s+/).filter((text) => text !== '');
  if (fields.length !== 5) return '';
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  try {
    if (day === '*' || weekday === '*') return describeFields(fields);
    // Either day field may match, so each is described separately.
    const byDay = describeFields([minute, hour, day, month, '*']);
    return `${byDay} (or) ${describeFields([minute, hour, '*', month, weekday])}`;
  } catch (error) {
    if (error instanceof Indescribable) return '';
    throw error;
  }
};
