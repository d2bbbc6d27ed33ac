// Partition mappers turn the partition key of an asset event into the key of the run that waits for it. They work like
// Airflow's classes of the same names (airflow.sdk). The code of an author's own mapper cannot run here, so a worker is
// asked for its result, and the result is stored.

import { Type, type Static } from 'typebox';
import { civilDate, epochDay, weekday } from './civil.ts';
import { DAY, HOUR, instant, wallTime } from './instant.ts';
import type { WallTime } from './instant.ts';
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

export type MappedKey = { ok: true; key: string } | { ok: false; problem: string };

const refused = (problem: string): MappedKey => ({ ok: false, problem });

/** Returns the key of the run for an event with this key. */
export function mapKey(mapper: PartitionMapper, key: string): MappedKey {
  switch (mapper.mapper) {
    case 'identity':
      return { ok: true, key };
    case 'allowed':
      return mapper.keys.includes(key)
        ? { ok: true, key }
        : refused(`the partition key "${key}" is not one of those allowed: ${mapper.keys.join(', ')}`);
    case 'start_of':
      return startOf(mapper, key);
    case 'chain':
      return mapper.mappers.reduce<MappedKey>((mapped, next) => (mapped.ok ? mapKey(next, mapped.key) : mapped), {
        ok: true,
        key,
      });
    case 'product':
      return product(mapper, key);
  }
}

function product({ mappers, delimiter }: Extract<PartitionMapper, { mapper: 'product' }>, key: string): MappedKey {
  const parts = key.split(delimiter);
  if (parts.length !== mappers.length) {
    return refused(
      `the partition key "${key}" has ${parts.length} parts between "${delimiter}", not ${mappers.length}`,
    );
  }
  const mapped: string[] = [];
  for (const [index, mapper] of mappers.entries()) {
    const part = mapKey(mapper, parts[index] ?? '');
    if (!part.ok) return part;
    mapped.push(part.key);
  }
  return { ok: true, key: mapped.join(delimiter) };
}

type StartOf = Extract<PartitionMapper, { mapper: 'start_of' }>;

function startOf({ unit, input_format: input, output_format: output, timezone }: StartOf, key: string): MappedKey {
  const parsed = parseDate(key, input);
  if (!parsed) return refused(`the partition key "${key}" does not have the form "${input}"`);
  const zone = zoneNamed(timezone);
  if (!zone) return refused(`time zone "${timezone}" is not known`);
  // A key without an offset is wall time in the zone of the mapper.
  const wall = parsed.offset === null ? parsed.wall : zone.toWall(instant(parsed.wall - parsed.offset));
  const start = truncated(wall, unit);
  const quarter = Math.floor((civilDate(Math.floor(start / DAY)).month + 2) / 3);
  const format = unit === 'quarter' ? output.replaceAll('{quarter}', String(quarter)) : output;
  return { ok: true, key: formatDate(start, zone.offsetAt(zone.fromWall(start)), format) };
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
  if (mapper.mapper !== 'start_of') return [];
  const codes = [unknownCode(mapper.input_format, 'parse'), unknownCode(mapper.output_format, 'write')];
  return [
    ...codes.flatMap((code) => (code === null ? [] : [`the format code "${code}" is not known to partition mappers`])),
    ...(zoneNamed(mapper.timezone) ? [] : [`time zone "${mapper.timezone}" is not known`]),
  ];
}
