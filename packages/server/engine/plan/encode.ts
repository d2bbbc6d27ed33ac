/**
 * Encodes upstream counters as text for one column: numbers in a fixed order, without trailing zeros. "3,1" means three
 * upstream instances, one of them successful. As text, a row is three bytes wider; as numbers it would be forty-four.
 */
import { noCounts } from './counts.ts';
import type { UpstreamCounts } from './types.ts';

// The order is the stored format. Only append to it.
const FIELDS = [
  'total',
  'success',
  'skipped',
  'failed',
  'upstreamFailed',
  'removed',
  'setupTotal',
  'setupSuccess',
  'setupFailed',
  'setupSkipped',
  'excluded',
] as const satisfies readonly (keyof UpstreamCounts)[];

export function encodeCounts(counts: UpstreamCounts): string {
  let last = FIELDS.length - 1;
  while (last > 0 && fieldAt(counts, last) === 0) last -= 1;
  let text = String(counts.total);
  for (let index = 1; index <= last; index += 1) text += `,${fieldAt(counts, index)}`;
  return text;
}

export function decodeCounts(text: string): UpstreamCounts {
  const counts = noCounts();
  const parts = text.split(',');
  if (parts.length > FIELDS.length) throw new Error(unreadable(text));
  for (const [index, part] of parts.entries()) {
    const field = FIELDS[index];
    // Number('') is 0 and Number(' 1') is 1, so everything but plain digits is refused.
    if (field === undefined || !/^\d+$/.test(part)) throw new Error(unreadable(text));
    counts[field] = Number(part);
  }
  return counts;
}

const fieldAt = (counts: UpstreamCounts, index: number): number => {
  const field = FIELDS[index];
  return field === undefined ? 0 : counts[field];
};

const unreadable = (text: string): string =>
  `Upstream counters ${JSON.stringify(text)} cannot be read: expected up to ${FIELDS.length} numbers separated by commas`;
