// Fast time zone offsets. The rules come from Intl, a cron step needs several of them, and a call of Intl is slow. The
// offset changes of a zone are therefore looked up once per year and cached. After that, an offset is a scan of a few
// numbers.

import { DAY, HOUR, MILLISECOND, MINUTE, SECOND, instant, wallTime } from './instant.ts';
import type { Instant, WallTime } from './instant.ts';

export interface Zone {
  readonly name: string;
  /** Microseconds to add to UTC. */
  readonly offsetAt: (at: Instant) => number;
  readonly toWall: (at: Instant) => WallTime;
  /** Airflow's reading of wall times that are not exactly one instant; see `fromWall` below. */
  readonly fromWall: (wall: WallTime) => Instant;
}

// No zone has changed its offset twice within 6.9 days (Gaza 2040, Recife 2000), so a sample every five days detects
// every change.
const SAMPLE = 5 * DAY;
const SAMPLES_PER_CHUNK = 73;
const CHUNK = SAMPLE * SAMPLES_PER_CHUNK;

// Offsets stay within +-15 hours, and a change is at most a day (Apia skipped 30 December 2011). A day on either side
// of a wall time therefore shows the offsets before and after any change near it.
const AROUND = DAY;

interface Chunk {
  /** In ascending order; the first is the start of the chunk. */
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

type OffsetAt = (at: Instant) => number;

const makeZone = (name: string, offsetAt: OffsetAt): Zone => ({
  name,
  offsetAt,
  toWall: (at) => wallTime(at + offsetAt(at)),
  fromWall: (wall) => {
    const before = offsetAt(instant(wall - AROUND));
    const after = offsetAt(instant(wall + AROUND));
    const late = instant(wall - after);
    // If a wall time occurs twice, the second occurrence counts: both readings are valid, and the offset after the
    // change wins.
    if (before === after || offsetAt(late) === after) return late;
    // The wall time is before the change, or in the gap when clocks go forward. The offset before the gap then moves it
    // past the gap.
    return instant(wall - before);
  },
});

const intlOffset = (name: string): OffsetAt => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  const parse = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/;
  return (at) => {
    const [, sign, hours, minutes, seconds = '0'] = parse.exec(format.format(Math.floor(at / MILLISECOND))) ?? [];
    const size = Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE + Number(seconds) * SECOND;
    return sign === '-' ? -size : size;
  };
};

const findChange = ({ low, high, offsetAt }: { low: number; high: number; offsetAt: OffsetAt }): number => {
  const first = offsetAt(instant(low));
  while (high - low > SECOND) {
    const middle = low + Math.floor((high - low) / 2 / SECOND) * SECOND;
    if (offsetAt(instant(middle)) === first) low = middle;
    else high = middle;
  }
  return high;
};

const readChunk = (index: number, offsetAt: OffsetAt): Chunk => {
  const begin = index * CHUNK;
  const starts = [begin];
  const offsets = [offsetAt(instant(begin))];
  for (let sample = 1; sample <= SAMPLES_PER_CHUNK; sample++) {
    const high = begin + sample * SAMPLE;
    const offset = offsetAt(instant(high));
    if (offset === offsets.at(-1)) continue;
    starts.push(findChange({ low: high - SAMPLE, high, offsetAt }));
    offsets.push(offset);
  }
  return { starts, offsets };
};

const cached = (offsetAt: OffsetAt): OffsetAt => {
  const chunks = new Map<number, Chunk>();
  return (at) => {
    const index = Math.floor(at / CHUNK);
    let chunk = chunks.get(index);
    if (chunk === undefined) chunks.set(index, (chunk = readChunk(index, offsetAt)));
    const { starts, offsets } = chunk;
    let i = starts.length - 1;
    while (i > 0 && at < (starts[i] ?? 0)) i--;
    return offsets[i] ?? 0;
  };
};

const FIXED = /^([+-])(\d\d):(\d\d)(?::(\d\d))?$/;

const readZone = (name: string): Zone | null => {
  const [, sign, hours, minutes, seconds = '0'] = FIXED.exec(name) ?? [];
  if (sign !== undefined) {
    const size = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND;
    const offset = sign === '-' ? -size : size;
    return makeZone(name, () => offset);
  }
  if (name === 'UTC') return makeZone(name, () => 0);
  try {
    return makeZone(name, cached(intlOffset(name)));
  } catch {
    return null;
  }
};

const zones = new Map<string, Zone>();

/** Returns the zone of that name, or null. */
export const zoneNamed = (name: string): Zone | null => {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = readZone(name);
  // Only existing zones are cached, so that wrong input cannot grow the table without limit.
  if (zone !== null) zones.set(name, zone);
  return zone;
};
