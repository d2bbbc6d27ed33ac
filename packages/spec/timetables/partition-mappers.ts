// Partition mappers turn the partition key of an asset event into the key of the run that waits for it. They work like
// Airflow's classes of the same names (airflow.sdk). The code of an author's own mapper cannot run here, so a worker is
// asked for its result, and the result is stored.

import { Type, type Static } from 'typebox';
import { civilDate, daysInMonth, epochDay, weekday } from './civil.ts';
import { DAY, HOUR, instant, wallTime } from './instant.ts';
import type { Instant, WallTime } from './instant.ts';
import { PartitionWindow, WaitPolicy, partsOf } from './partition-windows.ts';
import { formatDate, parseDate, unknownCode } from './python-dates.ts';
import { zoneNamed } from './zone.ts';

const closed = { additionalProperties: false } as const;
const Unit = Type.Union([
  Type.Literal('hour'),
  Type.Literal('day'),
  Type.Literal('week'),
  Type.Literal('month'),
  Type.Literal('quarter'),
  Type.Literal('year'),
]);

export const PartitionMapper = Type.Cyclic(
  {
    PartitionMapper: Type.Union([
      Type.Object({ mapper: Type.Literal('identity') }, closed),
      Type.Object({ mapper: Type.Literal('allowed'), keys: Type.Array(Type.String()) }, closed),
      Type.Object(
        {
          mapper: Type.Literal('start_of'),
          unit: Unit,
          input_format: Type.String(),
          output_format: Type.String(),
          timezone: Type.String(),
        },
        closed,
      ),
      Type.Object({ mapper: Type.Literal('fixed'), key: Type.String({ minLength: 1 }) }, closed),
      Type.Object(
        {
          mapper: Type.Literal('rollup'),
          upstream: Type.Ref('PartitionMapper'),
          window: PartitionWindow,
          wait_policy: WaitPolicy,
        },
        closed,
      ),
      Type.Object(
        {
          mapper: Type.Literal('fan_out'),
          upstream: Type.Ref('PartitionMapper'),
          window: PartitionWindow,
          downstream: Type.Ref('PartitionMapper'),
          max_keys: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        closed,
      ),
      Type.Object({ mapper: Type.Literal('chain'), mappers: Type.Array(Type.Ref('PartitionMapper')) }, closed),
      Type.Object(
        { mapper: Type.Literal('product'), mappers: Type.Array(Type.Ref('PartitionMapper')), delimiter: Type.String() },
        closed,
      ),
    ]),
  },
  'PartitionMapper',
);
export type PartitionMapper = Static<typeof PartitionMapper>;

/** A mapper that an author wrote, or that contains one. */
export const OwnMapper = Type.Object(
  { mapper: Type.Literal('custom'), class: Type.String(), arguments: Type.Unknown() },
  closed,
);
export type OwnMapper = Static<typeof OwnMapper>;

/** The result of the mapper at an index (-1: the default) for a key, or its problem with the key. */
export const MapperAnswer = Type.Union([
  Type.Object({ mapper: Type.Integer(), key: Type.String(), keys: Type.Array(Type.String()) }, closed),
  Type.Object({ mapper: Type.Integer(), key: Type.String(), problem: Type.String() }, closed),
]);
export type MapperAnswer = Static<typeof MapperAnswer>;

export type MappedKeys = { ok: true; keys: string[] } | { ok: false; problem: string };

const refused = (problem: string) => ({ ok: false as const, problem });
const one = (key: string): MappedKeys => ({ ok: true, keys: [key] });

/** An event of more runs is a mistake, for own mappers as well (python/svc_runtime/ask_mapper.py). */
const KEYS_AT_MOST = 1_000;

/** Returns the keys of the runs for an event with this key. Only a fan-out returns several. */
export function mapKeys(mapper: PartitionMapper, key: string): MappedKeys {
  switch (mapper.mapper) {
    case 'identity':
      return one(key);
    case 'fixed':
      return one(mapper.key);
    case 'allowed':
      return mapper.keys.includes(key)
        ? one(key)
        : refused(`the partition key "${key}" is not one of those allowed: ${mapper.keys.join(', ')}`);
    case 'start_of': {
      const start = startOf(mapper, key);
      return start.ok ? one(start.key) : start;
    }
    case 'chain':
      return mapper.mappers.reduce<MappedKeys>(
        (mapped, next) => (mapped.ok ? mapEach(next, mapped.keys) : mapped),
        one(key),
      );
    case 'product':
      return product(mapper, key);
    case 'rollup':
      return mapKeys(mapper.upstream, key);
    case 'fan_out':
      return fanOut(mapper, key);
  }
}

function mapEach(mapper: PartitionMapper, keys: readonly string[]): MappedKeys {
  const found = new Set<string>();
  for (const key of keys) {
    const mapped = mapKeys(mapper, key);
    if (!mapped.ok) return mapped;
    for (const each of mapped.keys) found.add(each);
    if (found.size > KEYS_AT_MOST) return tooMany(found.size, KEYS_AT_MOST);
  }
  return { ok: true, keys: [...found] };
}

const tooMany = (count: number, limit: number) =>
  refused(`the mapper returns ${count} partition keys for one event, and ${limit} is the most`);

function product({ mappers, delimiter }: Extract<PartitionMapper, { mapper: 'product' }>, key: string): MappedKeys {
  const parts = key.split(delimiter);
  if (parts.length !== mappers.length) {
    return refused(
      `the partition key "${key}" has ${parts.length} parts between "${delimiter}", not ${mappers.length}`,
    );
  }
  const mapped: string[] = [];
  for (const [index, mapper] of mappers.entries()) {
    const part = mapKeys(mapper, parts[index] ?? '');
    if (!part.ok) return part;
    if (part.keys.length > 1) return refused('a part of a ProductMapper returned several partition keys');
    mapped.push(part.keys[0] ?? '');
  }
  return one(mapped.join(delimiter));
}

/** The form of a part whose mapper knows no dates. */
const ISO = '%Y-%m-%dT%H:%M:%S';

type FanOut = Extract<PartitionMapper, { mapper: 'fan_out' }>;

function fanOut({ upstream, window, downstream, max_keys: max }: FanOut, key: string): MappedKeys {
  const mapped = mapKeys(upstream, key);
  if (!mapped.ok) return mapped;
  if (mapped.keys.length > 1) return refused('the upstream_mapper of a FanOutMapper returned several partition keys');
  const parts = partsOfKey(upstream, window, mapped.keys[0] ?? '');
  if (!parts.ok) return parts;
  const written =
    parts.kind === 'texts'
      ? parts.texts
      : parts.starts.map((start) =>
          downstream.mapper === 'start_of' ? writtenPlain(downstream, start) : formatDate(start, 0, ISO),
        );
  const keys = [...new Set(written)];
  return max !== undefined && keys.length > max ? tooMany(keys.length, max) : { ok: true, keys };
}

type Parts =
  | { ok: true; kind: 'texts'; texts: readonly string[] }
  | { ok: true; kind: 'starts'; starts: readonly WallTime[]; upstream: StartOf };

/** Returns what a window contains for a key that `upstream` has made. */
function partsOfKey(
  upstream: PartitionMapper,
  window: PartitionWindow,
  key: string,
): Parts | ReturnType<typeof refused> {
  if (window.window === 'segments') return { ok: true, kind: 'texts', texts: window.segments };
  if (upstream.mapper !== 'start_of') return refused(`a window of a ${window.window} needs a StartOf… mapper`);
  const start = startOfKey(upstream, key);
  const starts = start === null ? null : partsOf(window, start);
  if (starts === null) return refused(`the partition key "${key}" is not the start of a ${window.window}`);
  return { ok: true, kind: 'starts', starts, upstream };
}

/** Returns the keys of events that a rollup waits for, for the key of its run. */
export function expectedKeys(
  { upstream, window }: Extract<PartitionMapper, { mapper: 'rollup' }>,
  key: string,
): MappedKeys {
  const parts = partsOfKey(upstream, window, key);
  if (!parts.ok) return parts;
  if (parts.kind === 'texts') return { ok: true, keys: [...new Set(parts.texts)] };
  // Two parts have the same key when clocks go forward between them.
  return { ok: true, keys: [...new Set(parts.starts.map((start) => encoded(parts.upstream, start)))] };
}

/** Returns the start of the partition of a run, or null when its key stands for no time. */
export function partitionDateOf(mapper: PartitionMapper, key: string): Instant | null {
  switch (mapper.mapper) {
    case 'start_of': {
      const start = startOfKey(mapper, key);
      const zone = zoneNamed(mapper.timezone);
      return start === null || zone === null ? null : zone.fromWall(truncated(start, mapper.unit));
    }
    case 'rollup':
      return partitionDateOf(mapper.upstream, key);
    case 'fan_out':
      return partitionDateOf(mapper.downstream, key);
    case 'chain': {
      const last = mapper.mappers.at(-1);
      return last ? partitionDateOf(last, key) : null;
    }
    case 'product': {
      const parts = key.split(mapper.delimiter);
      const dates = mapper.mappers.map((part, index) => partitionDateOf(part, parts[index] ?? ''));
      const known = dates.filter((date) => date !== null);
      return known.length === 1 ? (known[0] ?? null) : null; // of several dates, none is that of the run
    }
    case 'identity':
    case 'fixed':
    case 'allowed':
      return null;
  }
}

type StartOf = Extract<PartitionMapper, { mapper: 'start_of' }>;

function startOf(
  { unit, input_format: input, output_format: output, timezone }: StartOf,
  key: string,
): { ok: true; key: string } | ReturnType<typeof refused> {
  const parsed = parseDate(key, input);
  if (!parsed) return refused(`the partition key "${key}" does not have the form "${input}"`);
  const zone = zoneNamed(timezone);
  if (!zone) return refused(`time zone "${timezone}" is not known`);
  // A key without an offset is wall time in the zone of the mapper.
  const wall = parsed.offset === null ? parsed.wall : zone.toWall(instant(parsed.wall - parsed.offset));
  const start = truncated(wall, unit);
  return { ok: true, key: formatDate(start, zone.offsetAt(zone.fromWall(start)), withQuarter(unit, output, start)) };
}

function withQuarter(unit: StartOf['unit'], format: string, wall: WallTime): string {
  const quarter = Math.floor((civilDate(Math.floor(wall / DAY)).month + 2) / 3);
  return unit === 'quarter' ? format.replaceAll('{quarter}', String(quarter)) : format;
}

/** Writes a part of a window as a mapper writes its keys. Airflow's parts have no zone here, so %z writes nothing. */
const writtenPlain = ({ unit, output_format: output }: StartOf, wall: WallTime): string =>
  formatDate(
    wall,
    0,
    withQuarter(unit, output, wall).replaceAll(/%(%|z)/g, (code) => (code === '%%' ? code : '')),
  );

/** Writes a part of a window as the events of the asset have it. */
function encoded({ input_format: input, timezone }: StartOf, wall: WallTime): string {
  const zone = zoneNamed(timezone);
  if (!zone) throw new Error(`unreachable: the time zone ${timezone} was checked`);
  const at = zone.fromWall(wall);
  return formatDate(zone.toWall(at), zone.offsetAt(at), input);
}

const TEXT_CODES: Readonly<Record<string, string>> = {
  '%Y': String.raw`(?<Y>\d{4})`,
  '%m': String.raw`(?<m>\d{2})`,
  '%d': String.raw`(?<d>\d{2})`,
  '{quarter}': '(?<q>[1-4])',
};

/** Reads a key that the mapper has made. Null: it has no such form. */
function startOfKey({ unit, output_format: format }: StartOf, key: string): WallTime | null {
  if (unit !== 'week' && unit !== 'quarter') return parseDate(key, format)?.wall ?? null;
  // As in Airflow, only these codes are read: a number of a week alone names no day, and Python cannot read a quarter.
  const seen = new Set<string>();
  const pattern = format.replaceAll(/%.|\{quarter\}|[\\^$.*+?()[\]{}|]/g, (code) => {
    if (code === '%%') return '%';
    const known = seen.has(code) ? undefined : TEXT_CODES[code];
    if (known !== undefined) seen.add(code);
    return known ?? (code.startsWith('%') || code === '{quarter}' ? '.+?' : `\\${code}`);
  });
  const found = new RegExp(`^${pattern}$`, 'v').exec(key)?.groups;
  const [year, quarter] = [Number(found?.['Y']), Number(found?.['q'])];
  const month = unit === 'quarter' ? quarter * 3 - 2 : Number(found?.['m']);
  const day = unit === 'quarter' ? 1 : Number(found?.['d']);
  if (!(year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return null;
  return wallTime(epochDay({ year, month, day }) * DAY);
}

function truncated(wall: WallTime, unit: StartOf['unit']): WallTime {
  if (unit === 'hour') return wallTime(Math.floor(wall / HOUR) * HOUR);
  const days = Math.floor(wall / DAY);
  const { year, month } = civilDate(days);
  switch (unit) {
    case 'day':
      return wallTime(days * DAY);
    case 'week':
      return wallTime((days - ((weekday(days) + 6) % 7)) * DAY);
    case 'month':
      return wallTime(epochDay({ year, month, day: 1 }) * DAY);
    case 'quarter':
      return wallTime(epochDay({ year, month: month - ((month - 1) % 3), day: 1 }) * DAY);
    case 'year':
      return wallTime(epochDay({ year, month: 1, day: 1 }) * DAY);
  }
}

/** Returns what is wrong with a mapper that fits its schema. */
export function mapperProblems(mapper: PartitionMapper | OwnMapper): string[] {
  if (mapper.mapper === 'custom') return [];
  if (mapper.mapper === 'chain' || mapper.mapper === 'product') return mapper.mappers.flatMap(mapperProblems);
  if (mapper.mapper === 'rollup' || mapper.mapper === 'fan_out') {
    const { upstream, window } = mapper;
    const isMatched = (window.window === 'segments') !== (upstream.mapper === 'start_of');
    return [
      ...mapperProblems(upstream),
      ...(mapper.mapper === 'fan_out' ? mapperProblems(mapper.downstream) : []),
      ...(isMatched ? [] : [`a window of ${window.window} does not fit the upstream mapper ${upstream.mapper}`]),
    ];
  }
  if (mapper.mapper !== 'start_of') return [];
  const codes = [unknownCode(mapper.input_format, 'parse'), unknownCode(mapper.output_format, 'write')];
  return [
    ...codes.flatMap((code) => (code === null ? [] : [`the format code "${code}" is not known to partition mappers`])),
    ...(zoneNamed(mapper.timezone) ? [] : [`time zone "${mapper.timezone}" is not known`]),
  ];
}
