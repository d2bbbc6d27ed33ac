// Durations in the notation of operators (`24h`, `1h30m`, `500ms`). Inside the program they are milliseconds.

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;

const SHAPE = /^(?<sign>[+-]?)(?<parts>(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)$/;
const PART = /(?<amount>\d+(?:\.\d+)?)(?<unit>ms|s|m|h|d)/g;
const PLAIN_SECONDS = /^[+-]?\d+(?:\.\d+)?$/;

/** A century. A longer duration is a typing error, and sums with it would leave the range of dates. */
export const MAX_DURATION_MS = 876_000 * UNITS.h;

/** Returns milliseconds, or undefined if the text is not a duration. A plain number counts seconds. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  const exact = PLAIN_SECONDS.test(trimmed) ? Number(trimmed) * UNITS.s : sumOfParts(trimmed);
  if (exact === undefined || Math.abs(exact) > MAX_DURATION_MS) {
    return undefined;
  }
  const rounded = Math.round(exact);
  // `0.2ms` must not become 0, because zero or less means "no limit" for many keys.
  if (rounded === 0 && exact !== 0) {
    return undefined;
  }
  return rounded === 0 ? 0 : rounded;
}

function sumOfParts(text: string): number | undefined {
  const groups = SHAPE.exec(text)?.groups;
  if (groups === undefined) {
    return undefined;
  }
  let sum = 0;
  for (const match of (groups['parts'] ?? '').matchAll(PART)) {
    sum += Number(match.groups?.['amount']) * UNITS[match.groups?.['unit'] as Unit];
  }
  return groups['sign'] === '-' ? -sum : sum;
}

/** Returns the shortest text that parses to the same number: `5400000` → `1h30m`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) {
    return '0s';
  }
  let rest = Math.abs(milliseconds);
  let text = milliseconds < 0 ? '-' : '';
  for (const unit of ['h', 'm', 's', 'ms'] as const) {
    const amount = Math.floor(rest / UNITS[unit]);
    rest -= amount * UNITS[unit];
    text += amount > 0 ? `${amount}${unit}` : '';
  }
  return text;
}
